package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/events"
)

// sweepPage is how many nodes are read at a time.
const sweepPage = 500

// census reads every node from the mark on: the newest generation, and which live assets lack a document.
func (w *sweep) census(ctx context.Context) error {
	f := NodeFilter{After: w.run.Mark.After, Limit: sweepPage}
	for {
		var nodes []Node
		err := w.s.graph.View(ctx, func(tx Tx) (err error) {
			nodes, err = tx.ListNodes(ctx, f)
			return err
		})
		if err != nil {
			return err
		}
		for _, n := range nodes {
			w.run.Newest = max(w.run.Newest, n.Generation)
			for _, p := range n.Parts {
				w.run.Newest = max(w.run.Newest, p.Generation)
			}
		}
		if err := w.missing(ctx, nodes); err != nil {
			return err
		}
		if len(nodes) < f.Limit {
			break
		}
		f.After = nodes[len(nodes)-1].ID
		w.run.Mark.After = f.After
		if err := w.turned(ctx, false); err != nil {
			return err
		}
	}
	return nil
}

// missing finds live assets whose documents are not there, in a page of nodes. Objects cannot be missed: a part may have none.
func (w *sweep) missing(ctx context.Context, nodes []Node) error {
	var targets []events.Target
	for _, n := range nodes {
		if t, ok := w.documentsOf(n); ok {
			targets = append(targets, t)
		}
	}
	return w.s.lookAll(ctx, targets, func(i int, seen events.Sight) error {
		w.countMissing(targets[i], seen)
		return nil
	})
}

// documentsOf is what to look at of a node: the documents that it should have by now.
func (w *sweep) documentsOf(n Node) (t events.Target, ok bool) {
	kind, known := w.s.policy.Kind(n.Kind)
	if !known || n.Status != Live || n.Generation == "" {
		return t, false
	}
	parts := map[string]string{}
	for _, p := range kind.Parts {
		if state := partState(n, p.Name); p.Document != nil && state.Status == PartPresent {
			parts[p.Name] = state.Generation
		}
	}
	e := Erasure{Asset: n.ID, Kind: n.Kind, Owner: n.Owner, Generation: n.Generation, Parts: parts}
	return targetOf(e, kind, n.Attributes), len(parts) > 0
}

// countMissing counts the documents that a sight does not tell of; what could not be looked at is not missing.
func (w *sweep) countMissing(t events.Target, seen events.Sight) {
	told := map[string]bool{}
	for _, thing := range seen.Found {
		told[thing.Part] = true
	}
	for _, u := range seen.Unseen {
		told[u.Part] = true
	}
	for _, part := range sortedKeys(t.Parts) {
		if !told[part] && !told[""] {
			w.counted(Candidate{Asset: t.Asset, Part: part, Reason: "the document is missing, or was not written yet; there is nothing to remove"})
		}
	}
}
