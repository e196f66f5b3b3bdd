package dependency

import (
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// DeletePart is Delete for one part. The asset stays, whatever depends on it; the part gets a new generation, in which it
// may be written again once the deletion has begun. While the asset itself is being deleted, or is deleted, that deletion
// is the answer.
func (s *Service) DeletePart(ctx context.Context, id, part string, r DeleteRequest) (Deletion, error) {
	switch {
	case part == "":
		return Deletion{}, unknownPart("", part)
	case r.WithDependants:
		return Deletion{}, problem.New(problem.InvalidRequest, "nothing depends on a part; leave with_dependants out").At("with_dependants")
	case r.IfPlan != "":
		return Deletion{}, problem.New(problem.InvalidRequest, "a plan is of a whole asset; leave If-Plan out").At("If-Plan")
	}
	return s.delete(ctx, acceptItem{id: id, part: part, DeleteRequest: r})
}

// hasPart tells whether a part belongs to the asset's kind.
func (s *Service) hasPart(n Node, part string) bool {
	kind, ok := s.policy.Kind(n.Kind)
	if ok {
		_, ok = kind.Part(part)
	}
	return ok
}

func unknownPart(kind, part string) error {
	return problem.New(problem.UnknownPart, "kind %q has no part %q", kind, part).At("part")
}

// partState is what is known of one part of a live asset, and of those that the node holds nothing about.
func partState(n Node, part string) PartState {
	if own, ok := n.Parts[part]; ok {
		return own
	}
	return PartState{Status: PartPresent, Generation: n.Generation}
}

// setPart puts a part's state into the node, whose map may be shared with what was read.
func (n *Node) setPart(part string, state PartState) {
	parts := map[string]PartState{}
	for name, p := range n.Parts {
		parts[name] = p
	}
	parts[part] = state
	if state.Status == PartPresent && state.Generation == n.Generation && len(state.Open) == 0 {
		delete(parts, part) // nothing of it differs from the asset
	}
	n.Parts = parts
}

// holds is the generation in which there may be something of the part.
func (p PartState) holds() string {
	if p.Status == PartErasing && p.Before != "" {
		return p.Before
	}
	return p.Generation
}

// matchesPart is the condition If-Match: the part's generation, or the one that its deletion takes.
func (it acceptItem) matchesPart(p PartState) error {
	if it.IfMatch == p.Generation || it.IfMatch == p.Before {
		return nil
	}
	return problem.New(problem.GenerationMismatch, "part %q of asset %q is in generation %s now", it.part, it.id, p.Generation).
		With("generation", p.Generation)
}

// part is the one part that the deletion is of; empty when it is of whole assets.
func (d DeletionRecord) part() string {
	if len(d.Parts) == 0 {
		return ""
	}
	return d.Parts[0]
}

// entombPart accepts the deletion of one part. Its new generation is what a rewrite and a late worker are kept apart by.
func (w *acceptWorld) entombPart(it acceptItem, n Node) DeletionRecord {
	before := partState(n, it.part)
	d := w.deletionOf(it, []string{n.ID})
	d.Parts = []string{it.part}
	w.erase(d, Erasure{Deletion: d.ID, Asset: n.ID, Kind: n.Kind, Owner: n.Owner, Generation: n.Generation, Why: "requested",
		Parts: map[string]string{it.part: before.Generation},
		Steps: []Step{{Part: it.part, Generation: before.Generation, Status: StepWaiting}}})
	n.setPart(it.part, PartState{Status: PartErasing, Generation: newGeneration(before.Generation), Deletion: d.ID, Before: before.Generation,
		Since: before.Since, Open: append(slices.Clone(before.Open), d.ID)})
	w.save(n)
	w.request(d)
	return d
}

// concerns tells whether an erasure is still the node's affair: in its generation, and by the deletion that has made it a
// tombstone, or by one of a part that is not done.
func concerns(n Node, d DeletionRecord, e Erasure) bool {
	switch {
	case n.Generation != e.Generation:
		return false
	case d.part() != "":
		return slices.Contains(n.Parts[d.part()].Open, d.ID)
	}
	return n.Status == Deleting && n.Deletion == d.ID
}

// openParts are the deletions of single parts that are not done; an asset is not deleted before they are.
func (n Node) openParts() (deletions []string) {
	for _, p := range n.Parts {
		deletions = append(deletions, p.Open...)
	}
	return distinct(deletions)
}

// revivePart takes the deletion of a part back. Nobody could write while it was scheduled, so what was there counts again.
func (w *world) revivePart(d DeletionRecord) {
	n := w.nodes[d.Root]
	p := partState(n, d.part())
	n.setPart(d.part(), PartState{Status: PartPresent, Generation: p.Before, Since: p.Since, Open: without(p.Open, d.ID)})
	w.save(n)
}

// completePart is T4 of the deletion of a part. One that was written again meanwhile stays present.
func (w *reportWorld) completePart(e Erasure, d DeletionRecord) {
	n, step := w.nodes[e.Asset], e.Steps[0]
	p := partState(n, step.Part)
	p.Open = without(p.Open, d.ID)
	if p.Status == PartErasing && p.Deletion == d.ID {
		p.Status, p.ErasedAt, p.Reason = PartErased, step.ErasedAt, step.erasedBecause(d.Reason)
	}
	n.setPart(step.Part, p)
	w.save(n)
	if n.Status == Deleting {
		w.freed = append(w.freed, &freed{ErasureKey{n.Deletion, n.ID}})
	}
}

// freed is an asset whose deletion may have waited for that of a part.
type freed struct{ ErasureKey }

// reopen makes a part present again that was erased, or whose erasure has begun: in its new generation. One whose deletion is
// only scheduled stays closed: a cancel brings its content back.
func (w *world) reopen(ctx context.Context, n Node, part string) (Node, error) {
	p := partState(n, part)
	if p.Deletion == "" {
		return n, nil
	}
	records, err := w.tx.Deletions(ctx, []string{p.Deletion})
	if err != nil {
		return n, err
	}
	if records[p.Deletion].Status == Scheduled {
		return n, partGone(n, part)
	}
	since := w.now
	n.setPart(part, PartState{Status: PartPresent, Generation: p.Generation, Since: &since, Open: p.Open})
	w.save(n)
	return n, nil
}

// reopen admits a write to a part that is closed.
func (s *Service) reopen(ctx context.Context, a events.Admission) (events.Admitted, error) {
	var out events.Admitted
	err := s.graph.Update(ctx, func(tx Tx) error {
		w := newWorld(tx, s.now())
		if err := w.load(ctx, Locks{Assets: []string{a.Asset}}); err != nil {
			return err
		}
		n := w.nodes[a.Asset]
		admitted, closed, err := s.admit(a, n)
		if out = admitted; err != nil || closed == "" {
			return err
		}
		if _, err := w.reopen(ctx, n, a.Part); err != nil {
			return err
		}
		return w.flush(ctx)
	})
	return out, err
}

func partGone(n Node, part string) error {
	p := n.Parts[part]
	return problem.New(problem.Gone, "part %q of asset %q is %s by deletion %s", part, n.ID, p.Status, p.Deletion).With("deletion", p.Deletion)
}

// without gives the list without one of its members.
func without(list []string, gone string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == gone })
}
