package mongo_test

import (
	"context"
	"net/url"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/internal/devstack/devtest"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/mongo"
	"github.com/tombstone-project/tombstone/services/asset/storetest"
	"github.com/tombstone-project/tombstone/test/containers"
)

func TestMain(m *testing.M) { containers.Main(m) }

// servers are the ones that every suite runs on.
var servers = map[string]func(t *testing.T) string{
	"embedded":  func(t *testing.T) string { return devtest.Documents(t).URI() },
	"container": func(t *testing.T) string { return containers.Mongo(t) },
}

func TestDocuments(t *testing.T) {
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			storetest.TestDocuments(t, func(t *testing.T) storetest.DocumentStore {
				uri := server(t)
				return storetest.DocumentStore{Documents: open(t, uri), Adopt: adopter(t, uri), TextIDs: isFerret(t, uri)}
			})
		})
	}
}

func TestLedger(t *testing.T) {
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			storetest.TestLedger(t, func(t *testing.T) asset.Ledger {
				namespace := devtest.Name("n")
				if name == "embedded" { // as in dev: without it each look-up reads the whole collection
					if err := devtest.Documents(t).Index(t.Context(), []string{namespace + "_erasures"}); err != nil {
						t.Fatal(err)
					}
				}
				return openNamed(t, server(t), namespace).Ledger()
			})
		})
	}
}

func open(t *testing.T, uri string) *mongo.Store {
	t.Helper()
	return openNamed(t, uri, devtest.Name("n"))
}

// openNamed opens a store that is closed with the test.
func openNamed(t *testing.T, uri, namespace string) *mongo.Store {
	t.Helper()
	s, err := mongo.Open(uri, mongo.Options{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// adopter writes documents past the store.
func adopter(t *testing.T, uri string) func(*testing.T, asset.DocumentRef, map[string]any) {
	db := raw(t, uri)
	return func(t *testing.T, ref asset.DocumentRef, body map[string]any) {
		t.Helper()
		if ref.IDField != "" || ref.IDType != policy.IDString {
			t.Fatalf("cannot adopt %+v", ref)
		}
		document := bson.M{"_id": ref.Key}
		for name, value := range body {
			document[name] = value
		}
		if _, err := db.Collection(ref.Collection).InsertOne(t.Context(), document); err != nil {
			t.Fatal(err)
		}
	}
}

func raw(t *testing.T, uri string) *driver.Database {
	t.Helper()
	c, err := driver.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c.Database(database(t, uri))
}

func database(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u.Path[1:]
}

// isFerret tells whether the server is FerretDB: containers may be that or MongoDB.
func isFerret(t *testing.T, uri string) bool {
	t.Helper()
	var info bson.M
	if err := raw(t, uri).RunCommand(t.Context(), bson.D{{Key: "buildInfo", Value: 1}}).Decode(&info); err != nil {
		t.Fatal(err)
	}
	_, ferret := info["ferretdbVersion"]
	return ferret
}
