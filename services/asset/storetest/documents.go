package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// DocumentStore is a document store under test.
type DocumentStore struct {
	Documents asset.Documents
	// Adopt writes a document as its owner did before us: at ref's key, with no generation.
	Adopt func(t *testing.T, ref asset.DocumentRef, body map[string]any)
	// TextIDs: the store takes a text and an object id of the same digits for one `_id` (FerretDB on SQLite).
	TextIDs bool
	// Astray gives a store whose address names a database that does not exist; nil where the store makes it unasked.
	Astray func(t *testing.T) asset.Documents
}

// documents is one subtest's store with a collection of its own.
type documents struct {
	DocumentStore
	t          *testing.T
	ctx        context.Context
	collection string
}

// TestDocuments checks the contract of asset.Documents. open is called once; every subtest uses collections of its own.
func TestDocuments(t *testing.T, open func(t *testing.T) DocumentStore) {
	store := open(t)
	run := func(name string, test func(d documents)) {
		t.Run(name, func(t *testing.T) {
			test(documents{store, t, t.Context(), unique(t, "c_")})
		})
	}
	run("answers a ping", func(d documents) { ok(d.t, "ping", d.Documents.Ping(d.ctx)) })
	run("a put is read back whole", documentRoundTrip)
	run("a put replaces the whole document", documentReplaced)
	run("what is absent is not found, not there, and deleted without a fault", documentAbsent)
	run("a delete takes no neighbour, and a repeat is a success", documentDelete)
	run("an older generation neither sees, deletes nor overwrites a newer one", documentOlder)
	run("a newer generation neither sees nor deletes an older one, but overwrites it", documentNewer)
	run("an adopted document without a generation matches every one", documentAdopted)
	run("a ref that is exact matches only its generation", documentExact)
	run("a key that holds the generation is the fence alone", documentFenced)
	run("many refs of several collections are answered in order", documentMany)
	run("a bad ref does not fail its neighbours", documentBadRefs)
	run("keys are taken literally", documentKeys)
	run("ids are of their type and in their field", documentIDs)
	run("an id of another type is told of, and not deleted", documentOtherTypes)
	run("no index lets documents expire", func(d documents) {
		d.put(d.ref("k", older), map[string]any{})
		for _, collection := range []string{d.collection, unique(d.t, "c_")} {
			index, err := d.Documents.Expires(d.ctx, collection)
			ok(d.t, "expires", err)
			same(d.t, "index", index, "")
		}
	})
	run("pages through a collection, each document once", documentPages)
	run("pages hold what has a key of the type in the field", documentPagesOfTypes)
	run("writers that race leave the newest generation", documentRace)
	run("writers of one generation that race all succeed", documentTwins)
	run("a cancelled call fails and deletes nothing", documentCancelled)
	if store.Astray != nil {
		run("a database that does not exist is an obstacle, never absence", documentAstray)
	}
}

// ref names a document by the generation field.
func (d documents) ref(key, generation string) asset.DocumentRef {
	return asset.DocumentRef{Collection: d.collection, Key: key, IDType: policy.IDString, Generation: generation}
}

func (d documents) put(ref asset.DocumentRef, body map[string]any) {
	d.t.Helper()
	ok(d.t, "put", d.Documents.Put(d.ctx, ref, body))
}

// holds fails the test when the document is not exactly body.
func (d documents) holds(ref asset.DocumentRef, body map[string]any) {
	d.t.Helper()
	got, err := d.Documents.Get(d.ctx, ref)
	ok(d.t, "get", err)
	same(d.t, "document "+ref.Key, got, body)
}

// deletes deletes the refs and fails the test on an error.
func (d documents) deletes(refs ...asset.DocumentRef) {
	d.t.Helper()
	errs := d.Documents.Delete(d.ctx, refs)
	if len(errs) != len(refs) {
		d.t.Fatalf("delete: %d errors for %d refs", len(errs), len(refs))
	}
	ok(d.t, "delete", errs...)
}

// sees looks at the refs and fails the test when the answers are others.
func (d documents) sees(want []bool, refs ...asset.DocumentRef) {
	d.t.Helper()
	exists, errs := d.Documents.Exists(d.ctx, refs)
	ok(d.t, "exists", errs...)
	same(d.t, "exists", exists, want)
}

func documentRoundTrip(d documents) {
	body := map[string]any{
		"text": "caf\u00e9 \U0001F9CA", "empty": "", "number": 1.5, "big": 1e300, "negative": -7.25,
		"yes": true, "no": false, "nothing": nil,
		"object": map[string]any{"inner": map[string]any{"deep": "x"}, "none": map[string]any{}},
		"array":  []any{"a", 2.5, map[string]any{"b": false}, nil},
	}
	d.put(d.ref("k", older), body)
	d.holds(d.ref("k", older), body)
	d.put(d.ref("bare", older), map[string]any{})
	d.holds(d.ref("bare", older), map[string]any{})
}

func documentReplaced(d documents) {
	d.put(d.ref("k", older), map[string]any{"a": "1", "b": "2"})
	d.put(d.ref("k", older), map[string]any{"c": "3"})
	d.holds(d.ref("k", older), map[string]any{"c": "3"})
}

func documentAbsent(d documents) {
	nowhere := d.ref("k", older)
	nowhere.Collection = unique(d.t, "never_")
	d.put(d.ref("other", older), map[string]any{})
	for _, ref := range []asset.DocumentRef{nowhere, d.ref("k", older)} {
		d.sees([]bool{false}, ref)
		d.deletes(ref)
		if _, err := d.Documents.Get(d.ctx, ref); !errors.Is(err, problem.NotFound) {
			d.t.Errorf("get: %v, want not-found", err)
		}
	}
}

func documentDelete(d documents) {
	ref, neighbour := d.ref("1", older), d.ref("10", older)
	d.put(ref, map[string]any{"n": "1"})
	d.put(neighbour, map[string]any{"n": "10"})
	d.sees([]bool{true, true}, ref, neighbour)
	d.deletes(ref)
	d.sees([]bool{false, true}, ref, neighbour)
	d.deletes(ref)
	d.holds(neighbour, map[string]any{"n": "10"})
}
