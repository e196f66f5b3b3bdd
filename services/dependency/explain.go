package dependency

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/events"
)

// Explain tells in words what a deletion waits for, and what may be done about it.
func (s *Service) Explain(ctx context.Context, id string) (Explanation, error) {
	by, err := caller(ctx)
	if err != nil {
		return Explanation{}, err
	}
	var c circumstances
	err = s.graph.View(ctx, func(tx Tx) (err error) {
		c, err = s.circumstances(ctx, tx, by, id)
		return err
	})
	if err != nil {
		return Explanation{}, err
	}
	x := Explanation{Deletion: c.d.ID, Root: c.d.Root, Status: c.d.Status, Paused: c.paused, Stalled: s.stalled(c.d), Causes: []Cause{}, MayDo: []string{}}
	for _, e := range c.erasures {
		x.addCauses(e)
	}
	x.say(c)
	return x, nil
}

// circumstances is all that bears on when a deletion goes on.
type circumstances struct {
	now      time.Time
	d        DeletionRecord
	erasures []Erasure
	pause    Pause
	paused   bool
	held     []string  // of its assets, while it is scheduled
	unsent   []Command // flags whose command the broker is not known to have
	fault    error     // why this process could not publish commands the last time; operators see it
	// waitsFor are deletions of single parts, of the first asset that is erased but for them.
	waitsFor []string
	// blockedSince is when the trail last told that it is blocked as it is now.
	blockedSince *time.Time
}

func (s *Service) circumstances(ctx context.Context, tx Tx, by Caller, id string) (c circumstances, err error) {
	c.now = s.now()
	if c.d, err = visibleDeletion(ctx, tx, by, id); err != nil {
		return c, err
	}
	if c.erasures, err = allErasures(ctx, tx, id); err != nil {
		return c, err
	}
	if c.pause, c.paused, err = paused(ctx, tx); err != nil {
		return c, err
	}
	if by.Operator && s.cfg.PublishFault != nil {
		c.fault = s.cfg.PublishFault()
	}
	commands, err := tx.Commands(ctx, CommandFilter{Deletions: []string{id}, Limit: stepsShown})
	if err != nil {
		return c, err
	}
	sent := s.sent.peek(flagIDs(commands))
	for _, command := range commands {
		if _, ok := sent[command.ID]; !ok {
			c.unsent = append(c.unsent, command)
		}
	}
	if err := c.readHeld(ctx, tx); err != nil {
		return c, err
	}
	if err := c.readOpenParts(ctx, tx); err != nil {
		return c, err
	}
	return c, c.readBlocked(ctx, tx)
}

// readOpenParts finds what an asset waits for of which this deletion has erased every part.
func (c *circumstances) readOpenParts(ctx context.Context, tx Tx) error {
	if c.d.Status != Deleting || c.d.part() != "" {
		return nil
	}
	for _, e := range c.erasures {
		if e.Done || len(unfinished(e)) > 0 {
			continue
		}
		nodes, err := tx.Nodes(ctx, []string{e.Asset})
		if err != nil {
			return err
		}
		if c.waitsFor = nodes[e.Asset].openParts(); len(c.waitsFor) > 0 {
			return nil
		}
	}
	return nil
}

// readHeld finds the assets whose hold keeps a scheduled deletion waiting.
func (c *circumstances) readHeld(ctx context.Context, tx Tx) error {
	if c.d.Status != Scheduled {
		return nil
	}
	_, locks := erasureLocks(c.erasures)
	nodes, err := tx.Nodes(ctx, locks.Assets)
	for _, e := range c.erasures {
		if nodes[e.Asset].Hold != nil {
			c.held = append(c.held, e.Asset)
		}
	}
	return err
}

// readBlocked looks for the time in the last page of the asset's trail.
func (c *circumstances) readBlocked(ctx context.Context, tx Tx) error {
	b := c.d.Blocked
	if b == nil {
		return nil
	}
	nodes, err := tx.Nodes(ctx, []string{b.Asset})
	if err != nil {
		return err
	}
	entries, err := tx.Trail(ctx, b.Asset, max(0, nodes[b.Asset].Sequence-maxLimit), maxLimit)
	for _, e := range entries {
		if e.Deletion == c.d.ID && e.Type == events.TypeDeletionBlocked && e.Part == b.Part {
			c.blockedSince = &e.Time
		}
	}
	return err
}

// addCauses adds the steps of an erasure that are not done.
func (x *Explanation) addCauses(e Erasure) {
	for _, step := range e.Steps {
		if step.Status == StepErased {
			continue
		}
		if len(x.Causes) < stepsShown {
			x.Causes = append(x.Causes, Cause{Asset: e.Asset, Part: step.Part, Status: step.Status, Attempts: step.Attempts,
				LastError: step.LastError, NextTry: step.NextTry})
		}
		sooner := step.NextTry != nil && (x.NextTry == nil || step.NextTry.Before(*x.NextTry))
		if sooner || x.LastError == "" && x.NextTry == nil {
			x.LastError, x.NextTry = step.LastError, step.NextTry
		}
	}
}
