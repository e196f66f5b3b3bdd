package dependency_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// shape is a random graph of live assets in plain memory, some of them held.
type shape struct {
	ids   []string
	links []dependency.Link
	held  map[string]bool
}

func drawShape(t *rapid.T, types ...string) shape {
	g := shape{held: map[string]bool{}}
	for i := range rapid.IntRange(2, 8).Draw(t, "assets") {
		g.ids = append(g.ids, fmt.Sprintf("n%d", i))
		if rapid.IntRange(0, 9).Draw(t, "held") == 0 {
			g.held[g.ids[i]] = true
		}
	}
	one := rapid.SampledFrom(g.ids)
	for range rapid.IntRange(0, 2*len(g.ids)).Draw(t, "links") {
		l := dependency.Link{From: one.Draw(t, "from"), Type: rapid.SampledFrom(types).Draw(t, "type"), To: one.Draw(t, "to")}
		if l.From != l.To && !slices.Contains(g.links, l) {
			g.links = append(g.links, l)
		}
	}
	return g
}

// build makes the graph.
func (g shape) build(b *bench) {
	b.t.Helper()
	for _, id := range g.ids {
		b.create("bare", id)
	}
	for _, l := range g.links {
		b.link(l.From, l.Type, l.To)
	}
	for id := range g.held {
		b.hold(id, "law")
	}
}

// closure is the definition of what goes with the roots: the smallest set that no rule adds to. Rules that count
// references come last.
func (g shape) closure(roots []string, withDependants bool) map[string]bool {
	going := map[string]bool{}
	for _, id := range roots {
		going[id] = true
	}
	for {
		size := len(going)
		for _, l := range g.links {
			restricts := l.Type == "DEPENDS_ON" || l.Type == "USES"
			if going[l.To] && (l.Type == "PART_OF" || withDependants && restricts) {
				going[l.From] = true
			}
		}
		if len(going) > size {
			continue
		}
		for _, l := range g.links {
			if going[l.From] && l.Type == "USES" && !g.held[l.To] && !g.needed(l.To, going) {
				going[l.To] = true
			}
		}
		if len(going) == size {
			return going
		}
	}
}

// needed tells whether something that stays keeps an asset.
func (g shape) needed(id string, going map[string]bool) bool {
	return slices.ContainsFunc(g.links, func(l dependency.Link) bool {
		return l.To == id && !going[l.From] && (l.Type == "DEPENDS_ON" || l.Type == "USES")
	})
}

// against tells what stands against a closure: a hold, or dependants that stay.
func (g shape) against(going map[string]bool) (held bool, blockers []string) {
	found := map[string]bool{}
	for _, l := range g.links {
		if going[l.To] && !going[l.From] && (l.Type == "DEPENDS_ON" || l.Type == "USES") {
			found[l.From] = true
		}
	}
	for id := range going {
		held = held || g.held[id]
	}
	return held, slices.Sorted(maps.Keys(found))
}

// tombstones are the assets of the shape that are not live.
func (b *bench) tombstones(g shape) map[string]bool {
	b.t.Helper()
	gone := map[string]bool{}
	for _, id := range g.ids {
		if b.asset(id).Status != dependency.Live {
			gone[id] = true
		}
	}
	return gone
}

func TestDeletionOfARandomGraphIsWhatThePlainModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newClosureBench(t)
		defer b.graph.Close(t.Context())
		g := drawShape(rt, "DEPENDS_ON", "PART_OF", "REFERENCES", "USES")
		g.build(b)
		root, with := rapid.SampledFrom(g.ids).Draw(rt, "root"), rapid.Bool().Draw(rt, "with dependants")
		going := g.closure([]string{root}, with)
		held, blockers := g.against(going)
		d, err := b.Delete(b.ctx, root, dependency.DeleteRequest{WithDependants: with})
		switch {
		case g.held[root] || held:
			refused(t, err, problem.OnHold)
		case len(blockers) > 0:
			if p := refused(t, err, problem.HasDependants); !slices.Equal(p.Members["dependants"].([]string), blockers) {
				rt.Fatalf("kept by %v, the model says %v", p.Members, blockers)
			}
		default:
			if err != nil {
				rt.Fatalf("refused: %v; the model says %v go", err, going)
			}
			if taken := b.taken(d); !slices.Equal(slices.Sorted(maps.Keys(taken)), slices.Sorted(maps.Keys(going))) {
				rt.Fatalf("taken %v, the model says %v", taken, going)
			}
		}
		if err != nil {
			going = nil
		}
		if gone := b.tombstones(g); !maps.Equal(gone, going) && len(gone)+len(going) > 0 {
			rt.Fatalf("tombstones %v, the model says %v", gone, going)
		}
	})
}

// TestSetOfARandomGraphIsTheLargestThatMayGo: among all subsets of a set, what goes is the largest against which nothing
// stands.
func TestSetOfARandomGraphIsTheLargestThatMayGo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newClosureBench(t)
		defer b.graph.Close(t.Context())
		g := drawShape(rt, "DEPENDS_ON", "PART_OF", "REFERENCES")
		g.build(b)
		set := rapid.SliceOfNDistinct(rapid.SampledFrom(g.ids), 1, min(5, len(g.ids)), rapid.ID[string]).Draw(rt, "set")
		with := rapid.Bool().Draw(rt, "with dependants")
		var best []string
		going := map[string]bool{}
		for mask := range 1 << len(set) {
			var some []string
			for i, id := range set {
				if mask&(1<<i) != 0 {
					some = append(some, id)
				}
			}
			all := g.closure(some, with)
			if held, blockers := g.against(all); !held && len(blockers) == 0 && len(some) > len(best) {
				best, going = some, all
			}
		}
		answer := b.set(dependency.SetRequest{IDs: set, WithDependants: with})
		var accepted []string
		for _, r := range answer.Results {
			if r.Deletion != nil {
				accepted = append(accepted, r.ID)
			}
		}
		if !slices.Equal(accepted, best) {
			rt.Fatalf("accepted %v of %v, the model says %v", accepted, set, best)
		}
		if gone := b.tombstones(g); !maps.Equal(gone, going) {
			rt.Fatalf("tombstones %v, the model says %v", gone, going)
		}
	})
}
