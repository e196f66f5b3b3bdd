package graphtest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var batchStore = store[string, dependency.BatchRecord]{
	key: func(b dependency.BatchRecord) string { return b.ID },
	save: func(ctx context.Context, tx dependency.Tx, b []dependency.BatchRecord) error {
		return tx.SaveBatches(ctx, b)
	},
	load: func(ctx context.Context, tx dependency.Tx, ids []string) (map[string]dependency.BatchRecord, error) {
		return tx.Batches(ctx, ids)
	},
}

func testBatches(t *testing.T, g dependency.Graph) {
	t.Run("batches come back as they were saved", func(t *testing.T) {
		full := dependency.BatchRecord{ID: newID(), Owner: "closed", RequestedBy: "ann", Reason: "leaves\n🪦", TraceParent: "00-t", RequestedAt: at(1),
			CompletedAt: at(2), Walk: dependency.Walk{After: oddIDs[9], Listed: true, Deferred: true, Moved: true, Last: true}}
		batchStore.replaced(t, g, newID(), full, dependency.BatchRecord{ID: full.ID})
	})
	t.Run("an owner is being erased while its batch is open", func(t *testing.T) { testErasingOwners(t, g) })
	t.Run("the deletions of a batch are counted by status", func(t *testing.T) { testCountBatch(t, g) })
	t.Run("refusals are kept, once for an asset, in pages", func(t *testing.T) { testRefusals(t, g) })
}

func testErasingOwners(t *testing.T, g dependency.Graph) {
	want := map[string]string{}
	var open []dependency.BatchRecord
	for _, owner := range oddIDs {
		b := dependency.BatchRecord{ID: newID(), Owner: owner, Open: true, RequestedAt: at(1)}
		open, want[owner] = append(open, b), b.ID
	}
	erasing := func() map[string]string {
		t.Helper()
		return read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]string, error) {
			return tx.ErasingOwners(ctx, append([]string{"nobody"}, oddIDs...))
		})
	}
	var own map[string]string
	update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
		if err = tx.SaveBatches(ctx, open); err == nil {
			own, err = tx.ErasingOwners(ctx, oddIDs)
		}
		return err
	})
	same(t, want, own)
	same(t, want, erasing())
	some := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.BatchRecord, error) {
		return tx.OpenBatches(ctx, 3)
	})
	if len(some) != 3 || !some[0].Open || want[some[0].Owner] != some[0].ID {
		t.Errorf("three open batches: %+v", some)
	}
	for i := range open[1:] {
		open[i+1].Open = false
		delete(want, open[i+1].Owner)
	}
	update(t, g, func(ctx context.Context, tx dependency.Tx) error { return tx.SaveBatches(ctx, open) })
	same(t, want, erasing())
	left := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.BatchRecord, error) {
		return tx.OpenBatches(ctx, 100)
	})
	same(t, open[:1], left)
}

func testCountBatch(t *testing.T, g dependency.Graph) {
	counts := func(batch string) map[dependency.Status]int {
		return read(t, g, func(ctx context.Context, tx dependency.Tx) (map[dependency.Status]int, error) {
			return tx.CountBatch(ctx, batch)
		})
	}
	batch, want := newID(), map[dependency.Status]int{dependency.Deleting: 3, dependency.Deleted: 2, dependency.Cancelled: 1}
	for status, n := range want {
		for range n {
			d := deletion("root", "counted", status)
			d.Batch = batch
			save(t, g, d, deletion("root", "counted", status))
		}
	}
	same(t, want, counts(batch))
	same(t, map[dependency.Status]int{}, counts(newID()))
	same(t, map[dependency.Status]int{}, counts("")) // deletions without a batch are of none
}

func testRefusals(t *testing.T, g dependency.Graph) {
	batch, other := newID(), newID()
	var all []dependency.Refusal
	for _, id := range oddIDs {
		all = append(all, dependency.Refusal{Batch: batch, Asset: id, Name: "on-hold", Detail: "held: " + id, Members: map[string]any{"dependants": []any{id}}},
			dependency.Refusal{Batch: other, Asset: id, Name: "has-dependants"})
	}
	keep := func(list []dependency.Refusal) {
		update(t, g, func(ctx context.Context, tx dependency.Tx) error { return tx.SaveRefusals(ctx, list) })
	}
	keep(all)
	all[0].Name, all[0].Detail, all[0].Members = "has-dependants", "", nil
	keep(all[:1])
	want := slices.DeleteFunc(slices.Clone(all), func(r dependency.Refusal) bool { return r.Batch != batch })
	slices.SortFunc(want, func(a, b dependency.Refusal) int { return cmp.Compare(a.Asset, b.Asset) })
	var got []dependency.Refusal
	for after := ""; ; {
		page := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Refusal, error) {
			return tx.ListRefusals(ctx, batch, after, 7)
		})
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
		after = page[len(page)-1].Asset
	}
	slices.SortFunc(got, func(a, b dependency.Refusal) int { return cmp.Compare(a.Asset, b.Asset) })
	same(t, want, got)
	n := read(t, g, func(ctx context.Context, tx dependency.Tx) (int, error) { return tx.CountRefusals(ctx, batch) })
	same(t, len(want), n)
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		return tx.RemoveRefusals(ctx, batch, []string{want[0].Asset, "absent"})
	})
	left := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Refusal, error) {
		return tx.ListRefusals(ctx, batch, "", 1000)
	})
	slices.SortFunc(left, func(a, b dependency.Refusal) int { return cmp.Compare(a.Asset, b.Asset) })
	same(t, want[1:], left)
	n = read(t, g, func(ctx context.Context, tx dependency.Tx) (int, error) { return tx.CountRefusals(ctx, other) })
	same(t, len(want), n)
}
