package dependency

import (
	"context"
	"time"
)

// countedTo bounds every count of an overview, and so what it may cost.
const countedTo = 1_000_000

// Overview counts along the indexes of the graph.
func (s *Service) Overview(ctx context.Context) (Overview, error) {
	by, err := caller(ctx)
	if err != nil {
		return Overview{}, err
	}
	var o Overview
	err = s.graph.View(ctx, func(tx Tx) (err error) {
		o, err = s.overview(ctx, tx, by)
		return err
	})
	if err != nil {
		return Overview{}, err
	}
	if by.Operator {
		o.Activity, err = s.activity.lastHour(ctx, s.graph, time.Now())
	}
	return o, err
}

func (s *Service) overview(ctx context.Context, tx Tx, by Caller) (o Overview, err error) {
	o.CountedTo = countedTo
	p, is, err := paused(ctx, tx)
	if err != nil {
		return o, err
	}
	if is {
		o.Paused, o.Pause = true, &p
	}
	owner, yes := by.Owner, true
	if by.Operator {
		owner = ""
	}
	for _, c := range []struct {
		into *int
		f    DeletionFilter
	}{
		{&o.Scheduled, DeletionFilter{Statuses: []Status{Scheduled}}},
		{&o.Deleting, DeletionFilter{Statuses: []Status{Deleting}}},
		{&o.Completed, DeletionFilter{Statuses: []Status{Deleted}}},
		{&o.Cancelled, DeletionFilter{Statuses: []Status{Cancelled}}},
		{&o.Blocked, DeletionFilter{Statuses: []Status{Deleting}, Blocked: true}},
		{&o.Stalled, DeletionFilter{Statuses: []Status{Deleting}, Stalled: &yes, StalledSince: s.now().Add(-s.policy.StalledAfter)}},
	} {
		c.f.Owner, c.f.Limit = owner, countedTo
		if *c.into, err = tx.CountDeletions(ctx, c.f); err != nil {
			return o, err
		}
	}
	o.Requested = min(countedTo, o.Scheduled+o.Deleting+o.Completed+o.Cancelled)
	if !by.Operator {
		return o, nil
	}
	count, oldest, err := tx.CountCommands(ctx, s.now())
	o.Flags = &FlagCount{Count: count, Oldest: optional(oldest)}
	return o, err
}
