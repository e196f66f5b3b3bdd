package asset_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

// canaryWorld has a policy with a canary.
func canaryWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	p, err := policy.Parse("canary.yaml", []byte("canary: {every: 1m, bucket: assets}\nkinds: {bare: {}}"))
	if err == nil {
		p, err = p.WithCanary("red")
	}
	if err != nil {
		t.Fatal(err)
	}
	w.config.Policy = p
	return w
}

func TestACanaryIsADocumentAndAnObjectAtPlacesOfItsOwn(t *testing.T) {
	w := canaryWorld(t)
	if err := w.admitting("red-canary", gen1).Plant(t.Context(), "red-canary-1"); err != nil {
		t.Fatal(err)
	}
	w.same("documents", slices.Collect(maps.Keys(w.documents.Snapshot())), []string{"{collection:red_canary field:_id idType:string id:red-canary-1/" + gen1 + "}"})
	listings, errs := w.blobs.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "red-canary/red-canary-1/" + gen1 + "/"}}, 10)
	if errors.Join(errs...) != nil || len(listings[0].Versions) != 1 || listings[0].Versions[0].Bytes == 0 {
		t.Errorf("objects: %+v, %v", listings, errs)
	}
	for _, a := range w.gate.admitted {
		w.same("admission", a, events.Admission{Asset: "red-canary-1", Part: a.Part, Owner: "red-canary", Write: true})
	}
}

func TestNothingIsPlantedOverAnotherAsset(t *testing.T) {
	w := canaryWorld(t)
	if err := w.admitting("mesh", gen1).Plant(t.Context(), "a"); !errors.Is(err, problem.UnknownPart) {
		t.Errorf("another kind: %v", err)
	}
	plain := newWorld(t)
	if err := plain.admitting("mesh", gen1).Plant(t.Context(), "a"); !errors.Is(err, problem.UnknownPart) {
		t.Errorf("a policy without canary: %v", err)
	}
	for _, w := range []*world{w, plain} {
		w.same("calls of stores", w.probe.Calls("documents.Put")+w.probe.Calls("blobs.Put"), 0)
	}
}

func TestAStoreThatTakesNoCanarySaysSo(t *testing.T) {
	w := canaryWorld(t)
	w.blobs = memory.NewBlobs(w.probe)
	w.config.Blobs = w.blobs
	if err := w.admitting("red-canary", gen1).Plant(t.Context(), "red-canary-1"); err == nil {
		t.Error("there is no bucket")
	}
}
