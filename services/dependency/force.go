package dependency

import (
	"context"
	"errors"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// forced is an operator's word in place of a report: this part of this asset is given up.
type forced struct {
	ErasureKey
	part   string
	by     string
	reason string
}

// Force gives up a part whose store is gone for good, on every asset of the deletion where it is not erased yet. What was
// forced is not verified; its step and the trail say so for ever, with who and why.
func (s *Service) Force(ctx context.Context, id string, f Force) (Deletion, error) {
	by, err := operator(ctx)
	if err != nil {
		return Deletion{}, err
	}
	switch {
	case f.Part == "":
		return Deletion{}, problem.New(problem.InvalidRequest, "name the part to give up").At("part")
	case f.Reason == "":
		return Deletion{}, problem.New(problem.InvalidRequest, "say why; the trail keeps it").At("reason")
	}
	d, erasures, err := s.underWay(ctx, id)
	if err != nil {
		return Deletion{}, err
	}
	known := false
	for _, e := range erasures {
		for _, step := range e.Steps {
			if step.Part != f.Part {
				continue
			}
			known = true
			if step.Status == StepErased {
				continue
			}
			refusal, err := s.reports.Do(ctx, &forced{ErasureKey{id, e.Asset}, f.Part, by.Subject, f.Reason})
			if err = errors.Join(err, refusal); err != nil {
				return Deletion{}, err
			}
		}
	}
	if !known {
		return Deletion{}, problem.New(problem.UnknownPart, "deletion %s has no part %q", d.ID, f.Part).At("part")
	}
	return s.Deletion(ctx, id, "")
}

// underWay reads a deletion that is `deleting`, with all its erasures.
func (s *Service) underWay(ctx context.Context, id string) (d DeletionRecord, erasures []Erasure, err error) {
	if !isUUID(id) {
		return d, nil, deletionNotFound(id)
	}
	err = s.graph.View(ctx, func(tx Tx) error {
		records, err := tx.Deletions(ctx, []string{id})
		if err != nil {
			return err
		}
		var ok bool
		if d, ok = records[id]; !ok {
			return deletionNotFound(id)
		}
		if d.Status != Deleting {
			return problem.New(problem.TooLate, "deletion %s is %s; only what is deleting can be forced", id, d.Status)
		}
		erasures, err = allErasures(ctx, tx, id)
		return err
	})
	return d, erasures, err
}

// force marks the step; it counts as erased from now on, unverified.
func (w *reportWorld) force(e *Erasure, d *DeletionRecord, f *forced) {
	for i := range e.Steps {
		step := &e.Steps[i]
		if step.Part != f.part || step.Status == StepErased {
			continue
		}
		at := w.now
		step.Status, step.Forced, step.ErasedAt, step.NextTry = StepErased, f.reason, &at, nil
		w.unblock(e, d, f.part)
		w.tell(e.Asset, Entry{Type: events.TypePartErased, Deletion: d.ID, Generation: e.Generation, By: f.by, Reason: d.Reason, Part: f.part,
			Detail: "forced, not verified: " + f.reason})
	}
}
