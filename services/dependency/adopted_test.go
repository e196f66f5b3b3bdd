package dependency_test

import (
	"errors"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// before makes a node as one that was there before Tombstone.
func (b *bench) before(kind, id string, attributes map[string]any) {
	b.t.Helper()
	err := b.graph.Update(b.t.Context(), func(tx dependency.Tx) error {
		return tx.SaveNodes(b.t.Context(), []dependency.Node{{ID: id, Kind: kind, Owner: "acme", Status: dependency.Live, Attributes: attributes}})
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// A node from before takes its places with the first write of ours, and nothing touches a place that another asset holds.
func TestAPlaceOfANodeFromBeforeBelongsToOneAsset(t *testing.T) {
	at := func(key string) dependency.Put {
		return dependency.Put{Kind: "file", Attributes: map[string]any{"key": key}}
	}
	t.Run("a deletion takes it, so no new asset gets it meanwhile", func(t *testing.T) {
		b := newBench(t)
		b.before("file", "old", map[string]any{"key": "a/b"})
		b.del("old")
		if _, _, err := b.PutAsset(b.ctx, "new", at("a/b")); !errors.Is(err, problem.PlaceTaken) {
			t.Errorf("answer: %v", err)
		}
	})
	t.Run("a deletion after a hold, which takes no place, too", func(t *testing.T) {
		b := newBench(t)
		b.before("file", "old", map[string]any{"key": "a/b"})
		if err := b.Hold(b.ctx, "old", "law"); err != nil {
			t.Fatal(err)
		}
		if err := b.Release(b.ctx, "old"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.PutAsset(b.ctx, "new", at("a/b")); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Delete(b.ctx, "old", dependency.DeleteRequest{}); !errors.Is(err, problem.PlaceTaken) {
			t.Errorf("answer: %v", err)
		}
	})
	t.Run("so does a change", func(t *testing.T) {
		b := newBench(t)
		b.before("file", "older", map[string]any{"key": "a/c"})
		size := int64(7)
		if _, _, err := b.PutAsset(b.ctx, "older", dependency.Put{Kind: "file", Bytes: &size}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.PutAsset(b.ctx, "new", at("a/c")); !errors.Is(err, problem.PlaceTaken) {
			t.Errorf("answer: %v", err)
		}
	})
	t.Run("what a new asset holds is not deleted with an old one", func(t *testing.T) {
		b, _ := planBench(t)
		b.create("bare", "project")
		b.before("file", "old", map[string]any{"key": "a/b"})
		if _, _, err := b.PutAsset(b.ctx, "new", at("a/b")); err != nil {
			t.Fatal(err)
		}
		want := func(id string) {
			t.Helper()
			if _, err := b.Delete(b.ctx, id, dependency.DeleteRequest{}); !errors.Is(err, problem.PlaceTaken) {
				t.Errorf("deletion of %s: %v", id, err)
			}
			answer := b.set(dependency.SetRequest{IDs: []string{id}})
			if got := outcomes(answer); got[0] != problem.PlaceTaken {
				t.Errorf("set of %s: %v", id, got)
			}
			if p := b.plan(id, false); len(p.Blockers) != 1 || p.Blockers[0] != (dependency.Blocker{Type: dependency.BlockedByPlace, Asset: "old"}) {
				t.Errorf("plan for %s: %+v", id, p.Blockers)
			}
		}
		want("old")
		if err := b.graph.Update(t.Context(), func(tx dependency.Tx) error {
			return tx.SaveLinks(t.Context(), []dependency.Link{{From: "old", Type: "PART_OF", To: "project"}})
		}); err != nil {
			t.Fatal(err)
		}
		want("project")
		d := b.del("new")
		b.erasedParts(d, "new", "content")
		b.del("project")
	})
}
