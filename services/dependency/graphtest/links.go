package graphtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testLinks(t *testing.T, g dependency.Graph) {
	t.Run("links are made, hidden, shown again and removed", func(t *testing.T) { testLinkLife(t, g) })
	t.Run("dependants are the live and the scheduled sources of visible links", func(t *testing.T) { testDependants(t, g) })
	t.Run("dependants of a thousand targets come in one call", func(t *testing.T) { testManyDependants(t, g) })
	t.Run("incoming links come in pages, by source and type", func(t *testing.T) { testIncoming(t, g) })
	t.Run("incoming pages give every link once while others come", func(t *testing.T) { testIncomingPages(t, g) })
	t.Run("a dense node is unlinked in pages", func(t *testing.T) { testUnlinkDense(t, g) })
	t.Run("unlinking takes both directions, hidden links too, and nothing else", func(t *testing.T) { testUnlinkBoth(t, g) })
}

func outgoing(t *testing.T, g dependency.Graph, ids ...string) map[dependency.Link]bool {
	t.Helper()
	got := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Link, error) { return tx.Outgoing(ctx, ids) })
	set := linkSet(got)
	if len(set) != len(got) {
		t.Errorf("outgoing links of %v came twice", ids)
	}
	return set
}

func testLinkLife(t *testing.T, g dependency.Graph) {
	ab, ac, abUses, bc := link("a", needs, "b"), link("a", needs, "c"), link("a", uses, "b"), link("b", needs, "c")
	save(t, g, node("a", "life"), node("b", "life"), node("c", "life"), ab, ac, abUses, bc)
	same(t, linkSet([]dependency.Link{ab, ac, abUses}), outgoing(t, g, "a"))
	same(t, linkSet([]dependency.Link{ab, ac, abUses, bc}), outgoing(t, g, "a", "b", "c", "absent", "a"))

	hidden := ab
	hidden.Hidden = newID()
	save(t, g, hidden, ac) // one changes, one is there already
	same(t, linkSet([]dependency.Link{hidden, ac, abUses}), outgoing(t, g, "a"))
	save(t, g, ab)
	same(t, linkSet([]dependency.Link{ab, ac, abUses}), outgoing(t, g, "a"))

	save(t, g, hidden)
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		absent := []dependency.Link{link("a", names, "b"), link("c", needs, "a"), link("absent", needs, "b")}
		return tx.RemoveLinks(ctx, append(absent, ab, bc)) // a hidden link is removed too
	})
	same(t, linkSet([]dependency.Link{ac, abUses}), outgoing(t, g, "a", "b", "c"))
}

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

func testIncoming(t *testing.T, g dependency.Graph) {
	scheduled, running := deletion("in-b", "in", dependency.Scheduled), deletion("in-c", "in", dependency.Deleting)
	a, b, c := node("in-a", "in"), tombstone(node("in-b", "in"), dependency.Deleting, scheduled.ID), tombstone(node("in-c", "in"), dependency.Deleting, running.ID)
	a.Kind, b.Owner = "scene", "in-2"
	hidden := link("in-d", needs, "in-t")
	hidden.Hidden = running.ID
	save(t, g, node("in-t", "in"), a, b, c, node("in-d", "in"), scheduled, running,
		link("in-a", uses, "in-t"), link("in-a", needs, "in-t"), link("in-b", needs, "in-t"), link("in-c", names, "in-t"), hidden, link("in-t", needs, "in-a"))
	want := []dependency.Source{
		{Link: link("in-a", needs, "in-t"), Kind: "scene", Owner: "in", Status: dependency.Live},
		{Link: link("in-a", uses, "in-t"), Kind: "scene", Owner: "in", Status: dependency.Live},
		{Link: link("in-b", needs, "in-t"), Kind: "mesh", Owner: "in-2", Status: dependency.Deleting, Scheduled: true},
		{Link: link("in-c", names, "in-t"), Kind: "mesh", Owner: "in", Status: dependency.Deleting},
	}
	for _, limit := range []int{1, 2, 3, 4, 100} {
		same(t, want, incoming(t, g, "in-t", nil, limit, nil))
	}
	same(t, []dependency.Source{want[0], want[2], want[3]}, incoming(t, g, "in-t", []string{names, needs}, 2, nil))
	same(t, 0, len(incoming(t, g, "in-t", []string{"UNHEARD_OF"}, 2, nil)))
	same(t, 0, len(incoming(t, g, "absent", nil, 2, nil)))
}

// incoming reads page after page to an empty one; between is called after each.
func incoming(t *testing.T, g dependency.Graph, to string, types []string, limit int, between func(last dependency.Link)) (all []dependency.Source) {
	t.Helper()
	var after dependency.Link
	for {
		page := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Source, error) {
			return tx.Incoming(ctx, to, types, after, limit)
		})
		if len(page) == 0 {
			return all
		}
		if len(page) > limit {
			t.Fatalf("a page of %d links where %d were asked for", len(page), limit)
		}
		all = append(all, page...)
		if len(all) > 10_000 {
			t.Fatal("the pages do not come to an end")
		}
		after = page[len(page)-1].Link
		if between != nil {
			between(after)
		}
	}
}

func testIncomingPages(t *testing.T, g dependency.Graph) {
	save(t, g, node("paged-t", "in"))
	save(t, g, anys(oddNodes())...)
	want := map[dependency.Link]bool{}
	for _, id := range oddIDs {
		for _, linkType := range []string{needs, uses, names} {
			want[link(id, linkType, "paged-t")] = true
		}
	}
	for l := range want {
		save(t, g, l)
	}
	newcomers := 0
	got := map[dependency.Link]int{}
	for _, s := range incoming(t, g, "paged-t", nil, 4, func(last dependency.Link) {
		newcomers++
		first, late := fmt.Sprintf(" !first%d", newcomers), fmt.Sprintf("\U0010ffff%d", newcomers)
		save(t, g, node(first, "in"), node(late, "in"), link(first, needs, "paged-t"), link(late, needs, "paged-t"))
	}) {
		if got[s.Link]++; got[s.Link] > 1 {
			t.Errorf("link %v came twice", s.Link)
		}
	}
	for l := range want {
		if got[l] == 0 {
			t.Errorf("link %v never came", l)
		}
	}
}

func testUnlinkDense(t *testing.T, g dependency.Graph) {
	const in, out, page = 520, 30, 100
	sources := nodes("dense-s", "dense", in)
	records := append([]any{node("dense", "dense")}, anys(sources)...)
	for i, s := range sources {
		records = append(records, link(s.ID, needs, "dense"))
		if i < out {
			records = append(records, link("dense", uses, s.ID))
		}
	}
	save(t, g, records...)
	removed := 0
	for n := page; n == page; removed += n {
		update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
			n, err = tx.Unlink(ctx, []string{"dense"}, page)
			return err
		})
		if n > page || removed > in+out {
			t.Fatalf("%d links removed, %d of them now, where %d a call were asked for", removed+n, n, page)
		}
	}
	same(t, in+out, removed)
	same(t, 0, len(outgoing(t, g, "dense", sources[0].ID, sources[in-1].ID)))
	same(t, 0, len(incoming(t, g, "dense", nil, 100, nil)))
}

func testUnlinkBoth(t *testing.T, g dependency.Graph) {
	hidden := link("u-c", needs, "u-a")
	hidden.Hidden = newID()
	stays := []dependency.Link{link("u-c", needs, "u-d"), link("u-d", uses, "u-c")}
	gone := []dependency.Link{link("u-a", needs, "u-b"), link("u-b", needs, "u-a"), link("u-a", uses, "u-b"), hidden, link("u-b", names, "u-d")}
	save(t, g, node("u-a", "u"), node("u-b", "u"), node("u-c", "u"), node("u-d", "u"))
	save(t, g, append(anys(stays), anys(gone)...)...)
	var n, again int
	update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
		if n, err = tx.Unlink(ctx, []string{"u-a", "u-b", "absent"}, len(gone)); err != nil {
			return err
		}
		again, err = tx.Unlink(ctx, []string{"u-a", "u-b"}, 10)
		return err
	})
	same(t, len(gone), n) // a link between two of them counts once
	same(t, 0, again)
	same(t, linkSet(stays), outgoing(t, g, "u-a", "u-b", "u-c", "u-d"))
}
