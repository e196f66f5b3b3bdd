package graphtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testLinks(t *testing.T, g dependency.Graph) {
	t.Run("links are made, hidden, shown again and removed", func(t *testing.T) { testLinkLife(t, g) })
	t.Run("many links to one target are hidden and shown again, and nothing else", func(t *testing.T) { testHideMany(t, g) })
	t.Run("dependants are the live and the scheduled sources of visible links", func(t *testing.T) { testDependants(t, g) })
	t.Run("dependants of a thousand targets come in one call", func(t *testing.T) { testManyDependants(t, g) })
	t.Run("incoming links come in pages, by source and type", func(t *testing.T) { testIncoming(t, g) })
	t.Run("incoming pages give every link once while others come", func(t *testing.T) { testIncomingPages(t, g) })
	t.Run("a look ahead follows a chain in its order, as far as was asked", func(t *testing.T) { testAheadAlongAChain(t, g) })
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
