package apitest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Cancel takes back a deletion that is scheduled, as all are while Grace is set.
func (s *Service) Cancel(ctx context.Context, id string) (dependency.Deletion, error) {
	c, leave, err := s.enter(ctx, "Cancel")
	if err != nil {
		return dependency.Deletion{}, err
	}
	defer leave()
	d, err := s.findDeletion(c, id)
	switch {
	case err != nil, d.Status == dependency.Cancelled:
		return d, err
	case d.Status != dependency.Scheduled:
		return d, problem.New(problem.TooLate, "deletion %s is %s", id, d.Status)
	}
	d.Status = dependency.Cancelled
	a := s.assets[d.Root]
	a.Status, a.Deletion = dependency.Live, ""
	s.assets[d.Root], s.deletions[id] = a, d
	s.tell(d, events.TypeDeletionCancelled, c.Subject)
	return d, nil
}

// Hold makes Delete answer on-hold.
func (s *Service) Hold(ctx context.Context, id, reason string) error {
	return s.setHold(ctx, "Hold", id, func(c dependency.Caller) *dependency.Hold {
		return &dependency.Hold{By: c.Subject, Reason: reason, At: time.Now().UTC()}
	})
}

// Release ends a hold.
func (s *Service) Release(ctx context.Context, id string) error {
	return s.setHold(ctx, "Release", id, func(dependency.Caller) *dependency.Hold { return nil })
}

func (s *Service) setHold(ctx context.Context, call, id string, hold func(dependency.Caller) *dependency.Hold) error {
	c, leave, err := s.enterOperator(ctx, call)
	if err != nil {
		return err
	}
	defer leave()
	a, err := s.find(c, id)
	if err != nil {
		return err
	}
	if a.Status == dependency.Deleted {
		return problem.New(problem.TooLate, "asset %q is deleted", id)
	}
	a.Hold = hold(c)
	s.assets[id] = a
	return nil
}

// Usage counts assets and bytes; there is no limit.
func (s *Service) Usage(ctx context.Context, owner string) (dependency.UsageView, error) {
	var used dependency.UsageView
	c, leave, err := s.enter(ctx, "Usage")
	if err != nil {
		return used, err
	}
	defer leave()
	if !c.Operator && c.Owner != owner {
		return used, problem.New(problem.NotFound, "there is no owner %q", owner)
	}
	for _, a := range s.assets {
		if a.Owner == owner && a.Status != dependency.Deleted {
			used.Assets++
			used.Bytes += a.Bytes
			if a.Status == dependency.Deleting {
				used.Pending += a.Bytes
			}
		}
	}
	return used, nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
