package graphtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testRemoveNodes(t *testing.T, g dependency.Graph) {
	all := ownedBy("removed", oddNodes())
	source, target, bystander := node("removed-source", "removed"), node("removed-target", "removed"), node("removed-not", "removed")
	d := deletion(all[0].ID, "removed", dependency.Deleted)
	told := dependency.Entry{ID: newID(), Asset: all[0].ID, Sequence: 7001, Time: at(1)}
	save(t, g, append(anys(all), source, target, bystander, link(source.ID, needs, target.ID), d, erasure(d.ID, all[0].ID, 0), told)...)
	gone := append(slices.Clone(oddIDs), source.ID, target.ID, "never-was")
	remove := func(ctx context.Context, tx dependency.Tx) error { return tx.RemoveNodes(ctx, gone) }
	update(t, g, remove)
	sameSet(t, []string{source.ID, target.ID, bystander.ID}, listNodes(t, g, dependency.NodeFilter{Owner: "removed"}))
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		return errors.Join(tx.RemoveLinks(ctx, []dependency.Link{link(source.ID, needs, target.ID)}), remove(ctx, tx))
	})
	same(t, []string{bystander.ID}, listNodes(t, g, dependency.NodeFilter{Owner: "removed"}))
	update(t, g, remove) // again
	if got := lastSequences(t, g, all[0].ID)[all[0].ID]; got != 7001 {
		t.Errorf("the trail of a removed node ends with %d", got)
	}
	same(t, true, slices.Contains(erasedAssets(t, g, d.ID), all[0].ID))
	again := node(all[0].ID, "removed")
	save(t, g, again) // the id is free
	nodeStore.roundTrip(t, g, "never-was", again)
}

// erasedAssets lists what a deletion erases.
func erasedAssets(t *testing.T, g dependency.Graph, deletion string) (assets []string) {
	t.Helper()
	for _, e := range read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Erasure, error) {
		return tx.ListErasures(ctx, deletion, -1, 10)
	}) {
		assets = append(assets, e.Asset)
	}
	return assets
}

func lastSequences(t *testing.T, g dependency.Graph, assets ...string) map[string]int64 {
	t.Helper()
	return read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]int64, error) {
		return tx.LastSequences(ctx, assets)
	})
}

func testLastSequences(t *testing.T, g dependency.Graph) {
	want := map[string]int64{}
	for i, id := range oddIDs {
		asset, end := "last "+id, int64(i%4+1)
		for sequence := int64(1); sequence <= end; sequence++ {
			save(t, g, entry(asset, sequence))
		}
		want[asset] = end
	}
	assets := []string{"last of none"}
	for asset := range want {
		assets = append(assets, asset)
	}
	same(t, want, lastSequences(t, g, append(assets, assets[1])...))
}

// testRemoveRace: a purge that looks under the lock, and a re-creation of the same asset. Whoever is first, it lives.
func testRemoveRace(t *testing.T, g dependency.Graph) {
	attempt := func(fn func(ctx context.Context, tx dependency.Tx, n dependency.Node) error) func() {
		return func() {
			err := within(t, func(ctx context.Context) error {
				return g.Update(ctx, func(tx dependency.Tx) error {
					if err := tx.Lock(ctx, dependency.Locks{Assets: []string{"contested"}}); err != nil {
						return err
					}
					found, err := tx.Nodes(ctx, []string{"contested"})
					if err != nil {
						return err
					}
					return fn(ctx, tx, found["contested"])
				})
			})
			if err != nil {
				t.Errorf("update: %v", err)
			}
		}
	}
	purge := attempt(func(ctx context.Context, tx dependency.Tx, n dependency.Node) error {
		if n.Status != dependency.Deleted {
			return nil
		}
		return tx.RemoveNodes(ctx, []string{n.ID})
	})
	for range rounds(60) {
		save(t, g, tombstone(node("contested", "contested"), dependency.Deleted, newID()))
		again := node("contested", "contested")
		together(purge, purge, attempt(func(ctx context.Context, tx dependency.Tx, _ dependency.Node) error {
			return tx.SaveNodes(ctx, []dependency.Node{again})
		}))
		got := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
			return tx.Nodes(ctx, []string{"contested"})
		})
		if got["contested"].Status != dependency.Live || got["contested"].Generation != again.Generation {
			t.Fatalf("the asset that was created again is %+v", got)
		}
	}
}
