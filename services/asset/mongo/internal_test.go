package mongo

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
)

// H-24.
func TestReadsArePrimaryAndWritesMajorityWhateverTheAddressSays(t *testing.T) {
	o := clientOptions("mongodb://127.0.0.1:1/db?readPreference=secondary&w=1&journal=false", Options{})
	if mode := o.ReadPreference.Mode(); mode != readpref.PrimaryMode {
		t.Errorf("reads: %v", mode)
	}
	if w := o.WriteConcern; w.W != "majority" || w.Journal != nil {
		t.Errorf("writes: %+v", w)
	}
}

func TestAnIndexThatRemovesDocumentsIsNamed(t *testing.T) {
	index := func(name string, more ...bson.E) bson.Raw {
		raw, err := bson.Marshal(append(bson.D{{Key: "name", Value: name}, {Key: "key", Value: bson.D{{Key: "at", Value: 1}}}}, more...))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	plain, ttl := index("_id_"), index("by_age", bson.E{Key: "expireAfterSeconds", Value: int32(0)})
	for want, indexes := range map[string][]bson.Raw{"": {plain}, "by_age": {plain, ttl}} {
		if got := expiring(indexes); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNoFilterIsEverEmpty(t *testing.T) {
	for _, idType := range []policy.IDType{"", policy.IDString, policy.IDInt, policy.IDObjectID} {
		for _, fenced := range []bool{false, true} {
			ref := asset.DocumentRef{Collection: "c", IDType: idType, Generation: "g", Fenced: fenced}
			if filter, err := matching(ref); !errors.Is(err, asset.ErrEmptyKey) || len(filter) != 0 {
				t.Errorf("%+v: filter %v, %v", ref, filter, err)
			}
			if others := otherKeys(ref); len(others) != 0 {
				t.Errorf("%+v: other keys %v", ref, others)
			}
			ref.Key = "65f0c0ffee65f0c0ffee0001"
			if filter, err := matching(ref); err == nil && (len(filter) == 0 || filter[0].Key != "_id" || filter[0].Value == nil) {
				t.Errorf("%+v: filter %v", ref, filter)
			}
		}
	}
}

func TestWhatOnlyAnOperatorCanMendIsAnObstacle(t *testing.T) {
	for code, want := range map[int32]asset.Reason{
		13: asset.ReasonAccessDenied, 18: asset.ReasonAccessDenied, 73: asset.ReasonDatabaseMissing, 10107: "", 11600: "",
	} {
		err := fault("look", mongo.CommandError{Code: code, Message: "told so"})
		if b := asset.AsBlocked(err); (b == nil) != (want == "") || b != nil && b.Reason != want {
			t.Errorf("code %d: %v, want reason %q", code, err, want)
		}
	}
}

func TestTheLastPageIsFoundByFewLooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := rapid.IntRange(1, 5000).Draw(t, "last")
		looks := 0
		found, err := lastPage(func(number int) (bool, error) {
			looks++
			return number <= last, nil
		})
		if err != nil || found != last || looks > 26 {
			t.Fatalf("last page %d, %v, after %d looks", found, err, looks)
		}
	})
}

func TestRecordIDsAreShortAndOfOneKeyEach(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("a/\u00e9\U0001F9CA 1")))
	key := rapid.Custom(func(t *rapid.T) asset.LedgerKey {
		return asset.LedgerKey{Deletion: text.Draw(t, "deletion"), Asset: text.Draw(t, "asset"), Part: text.Draw(t, "part")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := key.Draw(t, "a"), key.Draw(t, "b")
		x, y := inventoryID(a, 1), inventoryID(b, 1)
		if (a == b) != (x == y) {
			t.Fatalf("%+v has %q, %+v has %q", a, x, b, y)
		}
		if x == doneID(a) || x == inventoryID(a, 2) || doneID(a) == inventoryID(a, 2) {
			t.Fatal("two records of one erasure have one id")
		}
	})
	long := strings.Repeat("\U0001F9CA", 1000)
	if id := inventoryID(asset.LedgerKey{Deletion: long, Asset: long, Part: long}, 1<<40); len(id) > 128 {
		t.Errorf("an id of %d bytes", len(id))
	}
}
