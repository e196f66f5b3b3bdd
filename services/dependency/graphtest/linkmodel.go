package graphtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// errUndo ends a transaction of which nothing is to be kept.
var errUndo = errors.New("undo")

// hiders are the deletions that hide links.
var hiders = []string{"first", "second"}

// linkModel is what a graph of a few assets should hold, in plain maps.
type linkModel struct {
	nodes     map[string]dependency.Node
	deletions map[string]dependency.Status
	links     map[dependency.Link]string // without Hidden → Hidden
}

// testLinkModel runs random histories of nodes, deletions and links in a transaction each, which is rolled back, and
// compares every answer about links with the model's.
func testLinkModel(t *testing.T, g dependency.Graph) {
	ids := []string{"a", "b", "c", "d", "e"}
	types := []string{needs, uses, names}
	rapid.Check(t, func(r *rapid.T) {
		ctx := bounded(t)
		err := g.Update(ctx, func(tx dependency.Tx) error {
			m := &linkModel{nodes: map[string]dependency.Node{}, deletions: map[string]dependency.Status{}, links: map[dependency.Link]string{}}
			for _, id := range ids {
				if err := m.saveNode(ctx, tx, node(id, "model")); err != nil {
					return err
				}
			}
			for range rapid.IntRange(1, 25).Draw(r, "steps") {
				if err := m.step(ctx, tx, r, ids, types); err != nil {
					return err
				}
			}
			return cmp.Or(m.compare(ctx, tx, r, ids, types), errUndo)
		})
		if !errors.Is(err, errUndo) {
			r.Fatal(err)
		}
	})
}

func (m *linkModel) saveNode(ctx context.Context, tx dependency.Tx, n dependency.Node) error {
	m.nodes[n.ID] = n
	return tx.SaveNodes(ctx, []dependency.Node{n})
}

// step changes the graph and the model in the same way.
func (m *linkModel) step(ctx context.Context, tx dependency.Tx, r *rapid.T, ids, types []string) error {
	id, other := rapid.SampledFrom(ids).Draw(r, "from"), rapid.SampledFrom(ids).Draw(r, "to")
	l := link(id, rapid.SampledFrom(types).Draw(r, "type"), other)
	switch rapid.SampledFrom([]string{"link", "link", "link", "hide", "remove", "unlink", "tombstone", "revive"}).Draw(r, "step") {
	case "link":
		if id == other { // no links to oneself
			return nil
		}
		m.links[l] = ""
		return tx.SaveLinks(ctx, []dependency.Link{l})
	case "hide":
		if _, ok := m.links[l]; !ok {
			return nil
		}
		m.links[l] = rapid.SampledFrom(hiders).Draw(r, "hidden by")
		l.Hidden = m.links[l]
		return tx.SaveLinks(ctx, []dependency.Link{l})
	case "remove":
		delete(m.links, l)
		return tx.RemoveLinks(ctx, []dependency.Link{l})
	case "unlink":
		return m.unlink(ctx, tx, []string{id, other}, rapid.IntRange(1, 5).Draw(r, "limit"))
	case "tombstone":
		d := deletion(id, "model", rapid.SampledFrom([]dependency.Status{dependency.Scheduled, dependency.Deleting}).Draw(r, "deletion"))
		m.deletions[d.ID] = d.Status
		if err := tx.SaveDeletions(ctx, []dependency.DeletionRecord{d}); err != nil {
			return err
		}
		status := rapid.SampledFrom([]dependency.Status{dependency.Deleting, dependency.Deleted}).Draw(r, "status")
		return m.saveNode(ctx, tx, tombstone(m.nodes[id], status, d.ID))
	default:
		return m.saveNode(ctx, tx, node(id, "model"))
	}
}

// unlink removes a page of links; which ones is the store's own choice, so the model learns it from the graph.
func (m *linkModel) unlink(ctx context.Context, tx dependency.Tx, ids []string, limit int) error {
	touching := 0
	for l := range m.links {
		if slices.Contains(ids, l.From) || slices.Contains(ids, l.To) {
			touching++
		}
	}
	n, err := tx.Unlink(ctx, ids, limit)
	if err != nil {
		return err
	}
	if n != min(touching, limit) {
		return fmt.Errorf("unlink %v: removed %d of %d links with limit %d", ids, n, touching, limit)
	}
	left, err := tx.Outgoing(ctx, slices.Collect(maps.Keys(m.nodes)))
	if err != nil {
		return err
	}
	before := m.links
	m.links = map[dependency.Link]string{}
	for _, l := range left {
		hidden := l.Hidden
		l.Hidden = ""
		if was, ok := before[l]; !ok || was != hidden {
			return fmt.Errorf("unlink %v: link %v was not there", ids, l)
		}
		m.links[l] = hidden
	}
	for l := range before {
		_, kept := m.links[l]
		if !kept && !slices.Contains(ids, l.From) && !slices.Contains(ids, l.To) {
			return fmt.Errorf("unlink %v: link %v is gone", ids, l)
		}
	}
	return nil
}

// counts tells whether an asset is live, or may come back.
func (m *linkModel) counts(id string) (status dependency.Status, scheduled, counts bool) {
	n := m.nodes[id]
	scheduled = n.Status == dependency.Deleting && m.deletions[n.Deletion] == dependency.Scheduled
	return n.Status, scheduled, n.Status == dependency.Live || scheduled
}

// compare asks the graph about every asset.
func (m *linkModel) compare(ctx context.Context, tx dependency.Tx, r *rapid.T, ids, types []string) error {
	wanted := rapid.SliceOfNDistinct(rapid.SampledFrom(types), 1, len(types), rapid.ID).Draw(r, "types asked for")
	limit := rapid.IntRange(1, 4).Draw(r, "dependants named")
	dependants, err := tx.Dependants(ctx, ids, wanted, limit)
	if err != nil {
		return err
	}
	if diff := gocmp.Diff(m.dependants(ids, wanted, limit), dependants); diff != "" {
		return fmt.Errorf("dependants (-want +got):\n%s", diff)
	}
	if err := m.compareSources(ctx, tx, ids, wanted, limit); err != nil {
		return err
	}
	if err := m.compareAhead(ctx, tx, ids[:1], wanted, limit); err != nil {
		return err
	}
	if err := m.compareHidden(ctx, tx, ids[1:]); err != nil {
		return err
	}
	for _, id := range ids {
		want := m.incoming(id, wanted)
		var after dependency.Link
		if len(want) > 0 && rapid.Bool().Draw(r, "from the middle") {
			cut := rapid.IntRange(0, len(want)-1).Draw(r, "after")
			after, want = want[cut].Link, want[cut+1:]
		}
		got, err := tx.Incoming(ctx, id, wanted, after, 2)
		if err != nil {
			return err
		}
		for i := range got {
			got[i].Kind, got[i].Owner = "", ""
		}
		if diff := gocmp.Diff(want[:min(2, len(want))], got, cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("incoming of %s after %v (-want +got):\n%s", id, after, diff)
		}
	}
	return nil
}

// compareSources asks for the counting links to all assets, and for a few of them.
func (m *linkModel) compareSources(ctx context.Context, tx dependency.Tx, ids, types []string, limit int) error {
	want := map[dependency.Source]bool{}
	for _, id := range ids {
		for _, s := range m.incoming(id, types) {
			if _, _, counts := m.counts(s.From); counts {
				s.Kind, s.Owner = m.nodes[s.From].Kind, m.nodes[s.From].Owner
				want[s] = true
			}
		}
	}
	for _, limit := range []int{len(want) + 1, limit} {
		found, err := tx.Sources(ctx, ids, types, limit)
		if err != nil {
			return err
		}
		for i, s := range found {
			if !want[s] || slices.Contains(found[:i], s) {
				return fmt.Errorf("sources: %+v does not count, or came twice", s)
			}
		}
		if len(found) != min(limit, len(want)) {
			return fmt.Errorf("sources: %d of %d with limit %d", len(found), len(want), limit)
		}
	}
	return nil
}

// compareHidden asks for the links to the targets that each deletion hides.
func (m *linkModel) compareHidden(ctx context.Context, tx dependency.Tx, targets []string) error {
	for _, hider := range hiders {
		want := map[dependency.Link]bool{}
		for l, hidden := range m.links {
			if hidden == hider && slices.Contains(targets, l.To) {
				l.Hidden = hidden
				want[l] = true
			}
		}
		found, err := tx.HiddenLinks(ctx, targets, hider)
		if err != nil {
			return err
		}
		if diff := gocmp.Diff(want, linkSet(found)); diff != "" || len(found) != len(want) {
			return fmt.Errorf("links to %v hidden by %s (-want +got):\n%s", targets, hider, diff)
		}
	}
	return nil
}

func (m *linkModel) dependants(targets, types []string, limit int) map[string]dependency.Dependants {
	all := map[string]dependency.Dependants{}
	for _, target := range targets {
		sources := map[string]bool{}
		for l, hidden := range m.links {
			if _, _, counts := m.counts(l.From); counts && l.To == target && hidden == "" && slices.Contains(types, l.Type) {
				sources[l.From] = true
			}
		}
		if len(sources) > 0 {
			first := slices.Sorted(maps.Keys(sources))
			all[target] = dependency.Dependants{First: first[:min(limit, len(first))], Total: len(first)}
		}
	}
	return all
}

func (m *linkModel) incoming(to string, types []string) (all []dependency.Source) {
	for l, hidden := range m.links {
		if l.To == to && hidden == "" && slices.Contains(types, l.Type) {
			status, scheduled, _ := m.counts(l.From)
			all = append(all, dependency.Source{Link: l, Status: status, Scheduled: scheduled})
		}
	}
	slices.SortFunc(all, func(a, b dependency.Source) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Type, b.Type))
	})
	return all
}
