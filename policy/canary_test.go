package policy

import (
	"maps"
	"slices"
	"testing"
)

func TestTheCanaryHasAKindOfItsOwnWhoseNamesBeginWithTheNamespace(t *testing.T) {
	const text = "canary: {every: 1m, bucket: assets}\n" + `kinds: {item: {parts: {file: {blobs: {bucket: assets, prefix: "files/{id}/{generation}/"}}}}}`
	plain := mustParse(t, text)
	p, err := plain.WithCanary("red-1")
	if err != nil {
		t.Fatal(err)
	}
	kind := p.CanaryKind()
	if kind == nil || kind.Name != "red-1-canary" || plain.CanaryKind() != nil {
		t.Fatalf("kinds: %v; before: %v", slices.Sorted(maps.Keys(p.Kinds)), slices.Sorted(maps.Keys(plain.Kinds)))
	}
	s := Subject{ID: "red-1-canary-x", Owner: kind.Name, Kind: kind.Name, Generation: "g"}
	document, err := kind.Parts[0].Location(s)
	same(t, "error", nil, err)
	same(t, "document", Location{Collection: "red-1_canary", DocumentKey: "red-1-canary-x/g", IDField: "_id", IDType: IDString, Fenced: true}, document)
	object, err := kind.Parts[1].Location(s)
	same(t, "error", nil, err)
	same(t, "object", Location{Bucket: "assets", Prefix: "red-1-canary/red-1-canary-x/g/", Fenced: true}, object)
	same(t, "hash", plain.Hash, p.Hash)
	same(t, "places to guard", plain.Places(), p.Places())
	same(t, "collections", []string{"red-1_canary"}, p.Collections())
}

func TestWithoutAScheduleThereIsNoCanary(t *testing.T) {
	p := mustParse(t, "canary: {every: 0, bucket: assets}\nkinds: {item: {}}")
	same, err := p.WithCanary("tombstone")
	if err != nil || same != p || same.CanaryKind() != nil {
		t.Errorf("got %+v, %v", same, err)
	}
}

func TestAKindCannotHaveTheNameOfTheCanary(t *testing.T) {
	p := mustParse(t, "canary: {every: 1m, bucket: assets}\nkinds: {tombstone-canary: {}}")
	if _, err := p.WithCanary("tombstone"); err == nil {
		t.Error("it has")
	}
}
