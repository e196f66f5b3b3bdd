package graphtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testNodes(t *testing.T, g dependency.Graph) {
	t.Run("nothing asked is nothing answered", func(t *testing.T) { testEmptyCalls(t, g) })
	t.Run("filters combine", func(t *testing.T) { testNodeFilters(t, g) })
	t.Run("pages are in the order of ids", func(t *testing.T) {
		save(t, g, anys(nodes("ordered", "ordered", 25))...)
		got := pageNodes(t, g, dependency.NodeFilter{Owner: "ordered", Limit: 10}, nil)
		same(t, 25, len(got))
		same(t, true, slices.IsSorted(got))
	})
	t.Run("removed nodes are gone, but for those that links hold", func(t *testing.T) { testRemoveNodes(t, g) })
	t.Run("a node that goes while another transaction wants it fails neither", func(t *testing.T) { testRemoveRace(t, g) })
	t.Run("pages give every node once while others come and change", func(t *testing.T) { testNodePages(t, g) })
}

// testEmptyCalls: empty arguments are legal everywhere, and change nothing.
func testEmptyCalls(t *testing.T, g dependency.Graph) {
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		calls := []func() error{
			func() error { return tx.Lock(ctx, dependency.Locks{}) },
			func() error { return tx.SaveNodes(ctx, nil) },
			func() error { return tx.RemoveNodes(ctx, nil) },
			func() error { return tx.Forget(ctx, nil, nil) },
			func() error { return tx.SaveLinks(ctx, nil) },
			func() error { return tx.RemoveLinks(ctx, nil) },
			func() error { return none(tx.Unlink(ctx, nil, 10)) },
			func() error { return tx.SaveDeletions(ctx, nil) },
			func() error { return tx.SaveErasures(ctx, nil) },
			func() error { return tx.SaveCommands(ctx, nil) },
			func() error { return tx.RemoveCommands(ctx, nil) },
			func() error { return tx.DropCommands(ctx, nil) },
			func() error { return tx.Append(ctx, nil) },
			func() error { return tx.MarkSent(ctx, nil) },
			func() error { return tx.AddUsage(ctx, nil) },
			func() error { return tx.SaveKeys(ctx, nil) },
			func() error { return tx.SavePlaces(ctx, nil) },
			func() error { return tx.ReleasePlaces(ctx, nil) },
			func() error { return noEntries(tx.Nodes(ctx, nil)) },
			func() error { return noEntries(tx.Dependants(ctx, nil, []string{needs}, 10)) },
			func() error { return noEntries(tx.Dependants(ctx, []string{"a"}, nil, 10)) },
			func() error { return noEntries(tx.Deletions(ctx, nil)) },
			func() error { return noEntries(tx.Erasures(ctx, nil)) },
			func() error { return noEntries(tx.FirstErasures(ctx, nil, 10)) },
			func() error { return noEntries(tx.Usage(ctx, nil)) },
			func() error { return noEntries(tx.LastSequences(ctx, nil)) },
			func() error { return noEntries(tx.Places(ctx, nil)) },
			func() error { return noItems(tx.Outgoing(ctx, nil)) },
			func() error { return noItems(tx.Sources(ctx, nil, []string{needs}, 10)) },
			func() error { return noItems(tx.Sources(ctx, []string{"a"}, nil, 10)) },
			func() error { return noItems(tx.Ahead(ctx, nil, []string{needs}, []string{uses}, 10)) },
			func() error { return noItems(tx.Ahead(ctx, []string{"a"}, nil, nil, 10)) },
			func() error { return noItems(tx.HiddenLinks(ctx, nil, "d")) },
			func() error { return noItems(tx.Keys(ctx, nil)) },
		}
		for i, call := range calls {
			if err := call(); err != nil {
				return fmt.Errorf("call %d: %w", i, err)
			}
		}
		return nil
	})
}

func none(n int, err error) error {
	if err == nil && n != 0 {
		return fmt.Errorf("%d instead of none", n)
	}
	return err
}

func noEntries[K comparable, V any](m map[K]V, err error) error { return none(len(m), err) }

func noItems[V any](s []V, err error) error { return none(len(s), err) }

func testNodeFilters(t *testing.T, g dependency.Graph) {
	kinds, owners := []string{"mesh", "scene"}, []string{"filter-a", "filter-b"}
	statuses := []dependency.Status{dependency.Live, dependency.Deleting, dependency.Deleted}
	var all []dependency.Node
	for i := range 36 {
		n := node(fmt.Sprintf("filter-%02d", i), owners[i/2%2])
		n.Kind, n.Status = kinds[i%2], statuses[i/4%3]
		all = append(all, n)
	}
	save(t, g, anys(all)...)
	sets := [][]dependency.Status{nil, {dependency.Live}, {dependency.Deleting, dependency.Deleted, dependency.Deleting}, statuses, {"unheard-of"}}
	for _, kind := range append(kinds, "", "unheard-of") {
		for _, owner := range append(owners, "", "unheard-of") {
			for _, set := range sets {
				f := dependency.NodeFilter{Kind: kind, Owner: owner, Statuses: set}
				var want []string
				for _, n := range all {
					if (kind == "" || n.Kind == kind) && (owner == "" || n.Owner == owner) && (set == nil || slices.Contains(set, n.Status)) {
						want = append(want, n.ID)
					}
				}
				same(t, want, listNodes(t, g, f)) // Limit 0: all
				f.Limit = 5
				same(t, want, pageNodes(t, g, f, nil))
			}
		}
	}
}

func testNodePages(t *testing.T, g dependency.Graph) {
	const owner = "paged"
	want := slices.Clone(oddIDs)
	save(t, g, anys(ownedBy(owner, oddNodes()))...)
	newcomers := 0
	got := pageNodes(t, g, dependency.NodeFilter{Owner: owner, Limit: 3}, func(last string) {
		newcomers++
		before, after := node(" !early"+fmt.Sprint(newcomers), owner), node(last+"+", owner)
		if len(after.ID) > 256 {
			after.ID = "~late" + fmt.Sprint(newcomers)
		}
		changed := tombstone(node(last, owner), dependency.Deleted, newID())
		save(t, g, before, after, changed)
	})
	seen := map[string]bool{}
	for _, id := range got {
		if seen[id] {
			t.Errorf("node %q came twice", id)
		}
		seen[id] = true
	}
	for _, id := range want {
		if !seen[id] {
			t.Errorf("node %q never came", id)
		}
	}
}

func ownedBy(owner string, all []dependency.Node) []dependency.Node {
	for i := range all {
		all[i].Owner = owner
	}
	return all
}

func listNodes(t *testing.T, g dependency.Graph, f dependency.NodeFilter) (ids []string) {
	t.Helper()
	for _, n := range read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Node, error) { return tx.ListNodes(ctx, f) }) {
		ids = append(ids, n.ID)
	}
	return ids
}

// pageNodes reads page after page to an empty one; between is called after each with the last id of it.
func pageNodes(t *testing.T, g dependency.Graph, f dependency.NodeFilter, between func(last string)) (ids []string) {
	t.Helper()
	for {
		page := listNodes(t, g, f)
		if len(page) == 0 {
			return ids
		}
		if len(page) > f.Limit {
			t.Fatalf("a page of %d nodes where %d were asked for", len(page), f.Limit)
		}
		ids = append(ids, page...)
		if len(ids) > 10_000 {
			t.Fatal("the pages do not come to an end")
		}
		f.After = page[len(page)-1]
		if between != nil {
			between(f.After)
		}
	}
}
