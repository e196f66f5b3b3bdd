package apitest

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Overview counts the deletions that exist for the caller. Its activity is made up.
func (s *Service) Overview(ctx context.Context) (dependency.Overview, error) {
	o := dependency.Overview{CountedTo: 1_000_000}
	c, leave, err := s.enter(ctx, "Overview")
	if err != nil {
		return o, err
	}
	defer leave()
	o.Paused, o.Pause = s.paused != nil, s.paused
	count := map[dependency.Status]*int{
		dependency.Scheduled: &o.Scheduled, dependency.Deleting: &o.Deleting, dependency.Deleted: &o.Completed, dependency.Cancelled: &o.Cancelled,
	}
	for _, d := range s.deletions {
		if _, err := s.find(c, d.Root); err != nil {
			continue
		}
		o.Requested++
		*count[d.Status]++
		if d.Blocked != nil {
			o.Blocked++
		}
		if d.Stalled {
			o.Stalled++
		}
	}
	if c.Operator {
		o.Flags = &dependency.FlagCount{Count: o.Scheduled + o.Deleting}
		for i := range 60 {
			at, oldest := time.Date(2026, 3, 1, 12, i, 0, 0, time.UTC), float64(i*29%11)/2
			o.Activity = append(o.Activity, dependency.Minute{At: at, Requested: i * 37 % 23, Completed: i * 31 % 19, OldestPending: &oldest})
		}
	}
	return o, nil
}

// Changes tells of every line of the trail, those that are there already first: all of it is of the last seconds.
func (s *Service) Changes(ctx context.Context, each func(dependency.Change) error) error {
	for next := 0; ; {
		c, leave, err := s.enter(ctx, "Changes")
		if err != nil {
			return err
		}
		var changes []dependency.Change
		for ; next < len(s.trail); next++ {
			item := s.trail[next]
			if d, err := s.findDeletion(c, item.Deletion); err == nil {
				changes = append(changes, dependency.Change{Time: item.Time, Type: item.Type, Deletion: d.ID, Root: d.Root, Status: d.Status, Assets: d.Assets})
			}
		}
		told := s.told
		leave()
		for _, change := range changes {
			if err := each(change); err != nil {
				return err
			}
		}
		select {
		case <-told:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
