package graphtest

import (
	"context"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// dependantsFixture makes target "t" with sources in every state, and gives those that count.
func dependantsFixture(t *testing.T, g dependency.Graph) (scheduled dependency.DeletionRecord, counting []string) {
	scheduled = deletion("s-scheduled", "dep", dependency.Scheduled)
	running, done := deletion("s-deleting", "dep", dependency.Deleting), deletion("s-deleted", "dep", dependency.Deleted)
	half := link("s-half-hidden", needs, "t")
	half.Hidden = scheduled.ID
	hidden := link("s-hidden", needs, "t")
	hidden.Hidden = scheduled.ID
	save(t, g,
		node("t", "dep"), node("other", "dep"), node("s-live", "dep"), node("s-both", "dep"), node("s-half-hidden", "dep"), node("s-hidden", "dep"), node("s-names", "dep"),
		tombstone(node("s-scheduled", "dep"), dependency.Deleting, scheduled.ID), tombstone(node("s-deleting", "dep"), dependency.Deleting, running.ID),
		tombstone(node("s-deleted", "dep"), dependency.Deleted, done.ID), tombstone(node("s-no-record", "dep"), dependency.Deleting, newID()),
		scheduled, running, done,
		link("s-live", needs, "t"), link("s-both", needs, "t"), link("s-both", uses, "t"), half, link("s-half-hidden", uses, "t"), hidden,
		link("s-names", names, "t"), link("s-scheduled", needs, "t"), link("s-deleting", needs, "t"), link("s-deleted", needs, "t"), link("s-no-record", needs, "t"),
		link("t", needs, "other"), link("s-live", needs, "other"))
	return scheduled, []string{"s-both", "s-half-hidden", "s-live", "s-scheduled"}
}

func testDependants(t *testing.T, g dependency.Graph) {
	scheduled, counting := dependantsFixture(t, g)
	ask := func(limit int, types []string, targets ...string) map[string]dependency.Dependants {
		t.Helper()
		return read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Dependants, error) {
			return tx.Dependants(ctx, targets, types, limit)
		})
	}
	both := []string{needs, uses}
	same(t, map[string]dependency.Dependants{"t": {First: counting, Total: 4}}, ask(100, both, "t", "s-live", "absent"))
	same(t, map[string]dependency.Dependants{"t": {First: counting[:2], Total: 4}}, ask(2, both, "t"))
	same(t, map[string]dependency.Dependants{"t": {Total: 4}}, ask(0, both, "t"))
	same(t, map[string]dependency.Dependants{"t": {First: []string{"s-both", "s-live", "s-scheduled"}, Total: 3}}, ask(100, []string{needs}, "t"))
	same(t, map[string]dependency.Dependants{"t": {First: []string{"s-names"}, Total: 1}}, ask(100, []string{names, "UNHEARD_OF"}, "t"))
	same(t, map[string]dependency.Dependants{
		"t": {First: counting[:3], Total: 4}, "other": {First: []string{"s-live", "t"}, Total: 2},
	}, ask(3, both, "t", "other", "t"))

	// In one transaction: the deletion passes the point of no return, and its asset does not come back any more.
	scheduled.Status = dependency.Deleting
	var own map[string]dependency.Dependants
	update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
		if err := write(ctx, tx, scheduled); err != nil {
			return err
		}
		own, err = tx.Dependants(ctx, []string{"t"}, both, 100)
		return err
	})
	same(t, map[string]dependency.Dependants{"t": {First: counting[:3], Total: 3}}, own)
	same(t, own, ask(100, both, "t"))
}

func testManyDependants(t *testing.T, g dependency.Graph) {
	targets, sources := nodes("many-t", "many", 1200), nodes("many-s", "many", 3)
	var links []any
	var ids []string
	want := map[string]dependency.Dependants{}
	for i, target := range targets {
		ids = append(ids, target.ID)
		var d dependency.Dependants
		for _, s := range sources[:i%4] {
			links = append(links, link(s.ID, needs, target.ID))
			d.First, d.Total = append(d.First, s.ID), d.Total+1
		}
		if d.Total > 0 {
			d.First = d.First[:min(2, d.Total)]
			want[target.ID] = d
		}
	}
	save(t, g, append(append(anys(targets), anys(sources)...), links...)...)
	got := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Dependants, error) {
		return tx.Dependants(ctx, ids, []string{needs}, 2)
	})
	same(t, want, got)
}
