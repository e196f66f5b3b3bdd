package dependency

import (
	"context"
	"fmt"
	"time"
)

// Explain tells in words what a deletion waits for.
func (s *Service) Explain(ctx context.Context, id string) (Explanation, error) {
	d, err := s.Deletion(ctx, id, "")
	if err != nil {
		return Explanation{}, err
	}
	var p pause
	var stopped bool
	var commands []Command
	err = s.graph.View(ctx, func(tx Tx) (err error) {
		if p, stopped, err = paused(ctx, tx); err != nil {
			return err
		}
		commands, err = tx.Commands(ctx, CommandFilter{Deletions: []string{id}, Limit: 1})
		return err
	})
	if err != nil {
		return Explanation{}, err
	}
	x := Explanation{Deletion: d.ID, Root: d.Root, Status: d.Status, Paused: stopped, Stalled: d.Stalled, Causes: []Cause{}, MayDo: []string{}}
	for _, step := range d.Steps {
		if step.Status == StepErased {
			continue
		}
		x.Causes = append(x.Causes, Cause{Asset: step.Asset, Part: step.Part, Status: step.Status, Attempts: step.Attempts, LastError: step.LastError, NextTry: step.NextTry})
		if step.NextTry != nil && (x.NextTry == nil || step.NextTry.Before(*x.NextTry)) {
			x.NextTry = step.NextTry
		}
	}
	x.say(d, p, stopped, commands)
	return x, nil
}

// say finds the first thing that stands in the way, and what may be done about it.
func (x *Explanation) say(d Deletion, p pause, stopped bool, commands []Command) {
	switch {
	case d.Status == Deleted:
		x.WaitsFor, x.Since = "nothing: it is completed, every part was seen to be absent", d.CompletedAt
		x.MayDo = []string{"tombstone receipt " + d.ID}
	case d.Status == Cancelled:
		x.WaitsFor = "nothing: it was cancelled, its assets are live"
	case stopped:
		x.WaitsFor, x.Since = fmt.Sprintf("physical deletion is paused by %s; nothing is published or erased until it is resumed", p.By), &p.At
		x.MayDo = []string{"tombstone resume"}
	case d.Status == Scheduled && len(commands) > 0 && commands[0].DueAt.Equal(heldDue):
		x.WaitsFor, x.Since = "a legal hold on one of its assets; it stays scheduled until that is released", &d.RequestedAt
		x.MayDo = []string{"tombstone release " + d.Root, "tombstone cancel " + d.ID}
	case d.Status == Scheduled:
		x.WaitsFor, x.Since, x.NextTry = "its due time, "+d.DueAt.Format(time.RFC3339), &d.RequestedAt, &d.DueAt
		x.MayDo = []string{"tombstone cancel " + d.ID}
	case d.Blocked != nil:
		x.WaitsFor, x.Since = fmt.Sprintf("part %q of %q: %s", d.Blocked.Part, d.Blocked.Asset, d.Blocked.Reason), &d.DueAt
		x.MayDo = []string{"remove the cause, then: tombstone retry " + d.ID}
	case len(commands) > 0:
		x.WaitsFor, x.Since = "its command has not reached the broker yet; it is published again by itself", &commands[0].Since
		x.MayDo = []string{"look at the broker (tombstone doctor), then: tombstone replay " + d.ID}
	default:
		x.WaitsFor, x.Since = "the asset service, which has the command", d.SentAt
		x.MayDo = []string{"tombstone retry " + d.ID}
	}
}
