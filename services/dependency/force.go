package dependency

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// forcedDetail begins what the trail and the asset's part say of a part that was given up.
const forcedDetail = "forced, not verified: "

// forced is an operator's word in place of a report: this part of this asset is given up.
type forced struct {
	ErasureKey
	part   string
	by     string
	reason string
}

// Force gives up a part whose store is gone for good, on every asset of the deletion where it is not erased yet. What was
// forced is not verified; its step and the trail say so for ever, with who and why. A repeat answers with the deletion.
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
	open, err := s.forceable(ctx, by, id, f.Part)
	if err != nil {
		return Deletion{}, err
	}
	var together errgroup.Group // so that they share transactions
	together.SetLimit(s.cfg.MaxBatch)
	for _, e := range open {
		together.Go(func() error {
			refusal, err := s.reports.Do(ctx, &forced{ErasureKey{id, e.Asset}, f.Part, by.Subject, f.Reason})
			return errors.Join(err, refusal)
		})
	}
	if err := together.Wait(); err != nil {
		return Deletion{}, err
	}
	return s.Deletion(ctx, id, "")
}

// forceable gives the erasures in which the part is not erased. It refuses a part that the deletion does not have, and a
// deletion that is not `deleting`, unless the part was given up already.
func (s *Service) forceable(ctx context.Context, by Caller, id, part string) (open []Erasure, err error) {
	var d DeletionRecord
	var all []Erasure
	err = s.graph.View(ctx, func(tx Tx) (err error) {
		if d, err = visibleDeletion(ctx, tx, by, id); err != nil {
			return err
		}
		all, err = allErasures(ctx, tx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	known, before := false, false
	for _, e := range all {
		for _, step := range e.Steps {
			if step.Part != part {
				continue
			}
			known, before = true, before || step.Forced != ""
			if step.Status != StepErased {
				open = append(open, e)
			}
		}
	}
	switch {
	case !known:
		return nil, problem.New(problem.UnknownPart, "deletion %s has no part %q", id, part).At("part")
	case d.Status != Deleting && !before:
		return nil, problem.New(problem.TooLate, "deletion %s is %s; only what is deleting can be forced", id, d.Status)
	}
	return open, nil
}

// force marks the step; it counts as erased from now on, unverified. What is left of the asset gets a command of its own at
// R2's next look: to one that names the part the gate says no.
func (w *reportWorld) force(e *Erasure, d *DeletionRecord, f *forced) {
	for i := range e.Steps {
		step := &e.Steps[i]
		if step.Part != f.part || step.Status == StepErased {
			continue
		}
		at := w.now
		step.Status, step.Forced, step.ErasedAt, step.NextTry = StepErased, f.reason, &at, nil
		e.CheckAt = w.now
		w.unblock(e, d, f.part)
		w.tell(e.Asset, Entry{Type: events.TypePartErased, Deletion: d.ID, Generation: e.Generation, By: f.by, Reason: d.Reason, Part: f.part,
			Detail: forcedDetail + f.reason})
	}
}
