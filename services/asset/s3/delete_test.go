package s3_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3"
)

func version(key, id string) asset.Version { return asset.Version{Key: key, ID: id} }

func TestABatchThatSucceedsStillTellsOfEachKey(t *testing.T) {
	_, s := serve(t, func(r request) (int, string) {
		if !r.is("POST", "delete") {
			return 404, failure("NoSuchObjectLockConfiguration")
		}
		return 200, `<DeleteResult>
			<Error><Key>k2</Key><VersionId>v</VersionId><Code>AccessDenied</Code><Message>no</Message></Error>
			<Error><Key>k3</Key><VersionId>v</VersionId><Code>NoSuchVersion</Code></Error>
			<Error><Key>k4</Key><VersionId>v</VersionId><Code>SlowDown</Code></Error></DeleteResult>`
	})
	errs := s.Delete(t.Context(), "assets", []asset.Version{version("k1", "v"), version("k2", "v"), version("k3", "v"), version("k4", "v")})
	if errs[0] != nil || errs[2] != nil {
		t.Errorf("deleted, and gone before: %v, %v", errs[0], errs[2])
	}
	if b := asset.AsBlocked(errs[1]); b == nil || b.Reason != asset.ReasonAccessDenied || !strings.Contains(b.Detail, `"k2"`) {
		t.Errorf("denied: %v", errs[1])
	}
	if errs[3] == nil || asset.AsBlocked(errs[3]) != nil {
		t.Errorf("slowed down: %v, want a fault that may pass", errs[3])
	}
}

func TestAnErrorOfAKeyThatWasNotAskedForFailsTheBatch(t *testing.T) {
	_, s := serve(t, func(request) (int, string) {
		return 200, `<DeleteResult><Error><Key>k�</Key><VersionId>v</VersionId><Code>SlowDown</Code></Error></DeleteResult>`
	})
	for i, err := range s.Delete(t.Context(), "assets", []asset.Version{version("k1", "v"), version("k2", "v")}) {
		if err == nil {
			t.Errorf("version %d counts as deleted", i)
		}
	}
}

// H-26: compatible stores ask for Content-MD5, and refuse newer checksums.
func TestABatchCarriesTheChecksumThatEveryStoreKnowsAndNoOther(t *testing.T) {
	f, s := serve(t, func(r request) (int, string) {
		for name := range r.header {
			if strings.HasPrefix(name, "X-Amz-Checksum") || strings.HasPrefix(name, "X-Amz-Sdk-Checksum") || name == "X-Amz-Trailer" {
				return 501, failure("NotImplemented")
			}
		}
		if r.header.Get("Content-Md5") == "" {
			return 400, failure("InvalidRequest")
		}
		return 200, emptyBatch
	})
	for _, err := range s.Delete(t.Context(), "assets", []asset.Version{version("k", "v")}) {
		if err != nil {
			t.Error(err)
		}
	}
	if err := s.Put(t.Context(), "assets", "k", strings.NewReader("x"), 1); err != nil {
		t.Error(err)
	}
	if n := len(f.all()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// H-62.
func TestBatchesAreFullAndNeverEmpty(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 1: {1}, 1000: {1000}, 1001: {1000, 1}, 2500: {1000, 1000, 500}} {
		f, s := serve(t, func(request) (int, string) { return 200, emptyBatch })
		versions := make([]asset.Version, n)
		for i := range versions {
			versions[i] = version(fmt.Sprintf("k%04d", i), "v")
		}
		s.Delete(t.Context(), "assets", versions)
		var sizes []int
		for _, r := range f.all() {
			sizes = append(sizes, len(batchOf(t, r).Objects))
		}
		if diff := cmp.Diff(want, sizes); diff != "" {
			t.Errorf("%d versions (-want +got):\n%s", n, diff)
		}
	}
}

func TestABatchThatTookTooLongIsSmallerTheNextTime(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var sizes []int
	f := &fake{}
	f.answer = func(r request) (int, string) {
		n := len(batchOf(t, r).Objects)
		f.mu.Lock()
		sizes = append(sizes, n)
		f.mu.Unlock()
		if n > 250 {
			<-release
		}
		return 200, emptyBatch
	}
	endpoint := serveFake(t, f)
	defer close(release)
	s := open(t, s3.Config{Endpoint: endpoint, Region: "r", AccessKey: "a", SecretKey: "s", Timeout: 2 * time.Second})
	versions := make([]asset.Version, 1000)
	for i := range versions {
		versions[i] = version(fmt.Sprintf("k%04d", i), "v")
	}
	for left := versions; len(left) > 0; {
		var again []asset.Version
		for i, err := range s.Delete(t.Context(), "assets", left) {
			if err != nil {
				again = append(again, left[i])
			}
		}
		left = again
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if diff := cmp.Diff([]int{1000, 500, 250, 250, 250, 250}, sizes); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

func TestTheOldestVersionOfAKeyGoesFirst(t *testing.T) {
	f, s := serve(t, func(request) (int, string) { return 200, emptyBatch })
	at := func(key, id string, minute int) asset.Version {
		return asset.Version{Key: key, ID: id, Modified: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}
	}
	s.Delete(t.Context(), "assets", []asset.Version{
		at("b", "middle", 2), at("b", "new", 3), at("b", "old", 1),
		at("a", "second of one minute", 5), at("a", "first of one minute", 5),
	})
	var order []string
	for _, o := range batchOf(t, f.all()[0]).Objects {
		order = append(order, o.Key+" "+o.VersionID)
	}
	want := []string{"a first of one minute", "a second of one minute", "b old", "b middle", "b new"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// H-27, H-28: a key that XML cannot carry takes no other down; one that it can is escaped.
func TestKeysThatXMLCannotCarryGoAlone(t *testing.T) {
	f, s := serve(t, func(r request) (int, string) {
		if r.method == http.MethodDelete {
			return 204, ""
		}
		return 200, emptyBatch
	})
	odd := []string{"a/\x01one", "a/cr\rlf\n", "a/tab\t", "a/\x7f", "a/\uffff", "a/\x80 no character"}
	plain := []string{"a/le<ft", "a/an&d", `a/q"uote`, "a/en]]>d", "a/lit&amp;eral", "a/\U0001F9CA"}
	var versions []asset.Version
	for _, key := range append(odd, plain...) {
		versions = append(versions, version(key, "v"))
	}
	for i, err := range s.Delete(t.Context(), "assets", versions) {
		if err != nil {
			t.Errorf("%q: %v", versions[i].Key, err)
		}
	}
	alone, batched := map[string]bool{}, map[string]bool{}
	for _, r := range f.all() {
		if r.method == http.MethodDelete {
			alone[strings.TrimPrefix(r.path, "/assets/")] = true
			continue
		}
		for _, o := range batchOf(t, r).Objects {
			batched[o.Key] = true
		}
	}
	if diff := cmp.Diff(set(odd), alone); diff != "" {
		t.Errorf("alone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(set(plain), batched); diff != "" {
		t.Errorf("batched (-want +got):\n%s", diff)
	}
}

func set(keys []string) map[string]bool {
	out := map[string]bool{}
	for _, key := range keys {
		out[key] = true
	}
	return out
}

// H-37: without a key, a deletion would be one of the bucket.
func TestWhatCouldMeanMoreThanOneVersionIsNeverSent(t *testing.T) {
	f, s := serve(t, func(r request) (int, string) {
		if r.is("GET", "versioning") {
			return 200, "<VersioningConfiguration></VersioningConfiguration>"
		}
		return 500, failure("InternalError")
	})
	errs := s.Delete(t.Context(), "assets", []asset.Version{
		{}, {ID: "v"}, {Upload: true, ID: "u"}, {Key: "a/u", Upload: true}, {Key: "a/\x01/../../b/x"},
	})
	for i, want := range []error{asset.ErrEmptyKey, asset.ErrEmptyKey, asset.ErrEmptyKey, asset.ErrNoVersion, nil} {
		if errs[i] == nil || want != nil && !errors.Is(errs[i], want) {
			t.Errorf("version %d: %v, want %v", i, errs[i], want)
		}
	}
	for _, r := range f.all() {
		if r.method != http.MethodGet {
			t.Errorf("sent: %s %s?%s", r.method, r.path, r.query)
		}
	}
}
