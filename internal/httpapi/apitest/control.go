package apitest

import (
	"context"
	"strconv"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// tell adds a line to the trail of a deletion's root.
func (s *Service) tell(d dependency.Deletion, kind, by string) {
	s.trail = append(s.trail, dependency.AuditItem{
		Sequence: int64(len(s.trail) + 1), Time: time.Now().UTC(), Type: kind, Deletion: d.ID, Asset: d.Root, Generation: s.assets[d.Root].Generation,
		By: by, Reason: d.Reason,
	})
	close(s.told)
	s.told = make(chan struct{})
}

// findDeletion gives a deletion that exists for the caller.
func (s *Service) findDeletion(c dependency.Caller, id string) (dependency.Deletion, error) {
	d, ok := s.deletions[id]
	if _, err := s.find(c, d.Root); !ok || err != nil {
		return dependency.Deletion{}, problem.New(problem.NotFound, "there is no deletion %q", id)
	}
	return d, nil
}

// enterOperator is enter for calls that need the role.
func (s *Service) enterOperator(ctx context.Context, call string) (dependency.Caller, func(), error) {
	c, leave, err := s.enter(ctx, call)
	if err == nil && !c.Operator {
		leave()
		err = problem.New(problem.Forbidden, "this call needs the role operator")
	}
	return c, leave, err
}

// Explain says whether it is paused, and else only the status.
func (s *Service) Explain(ctx context.Context, id string) (dependency.Explanation, error) {
	c, leave, err := s.enter(ctx, "Explain")
	if err != nil {
		return dependency.Explanation{}, err
	}
	defer leave()
	d, err := s.findDeletion(c, id)
	x := dependency.Explanation{Deletion: d.ID, Root: d.Root, Status: d.Status, Paused: s.paused != nil, Stalled: d.Stalled, WaitsFor: "its end"}
	for _, step := range d.Steps {
		x.Causes = append(x.Causes, dependency.Cause{Asset: step.Asset, Part: step.Part, Status: step.Status, Attempts: step.Attempts, LastError: step.LastError})
		x.LastError = step.LastError
		x.MayDo = []string{"tombstone retry " + d.ID}
	}
	return x, err
}

// Stall makes a deletion fail at a step, and so stalled.
func (s *Service) Stall(id, lastError string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.deletions[id]
	d.Stalled = true
	d.Steps = []dependency.AssetStep{{Asset: d.Root, Step: dependency.Step{Part: Part, Status: dependency.StepErasing, Attempts: 3, LastError: lastError}}}
	s.deletions[id] = d
}

// Block makes a deletion that failed at a step blocked until then.
func (s *Service) Block(id, reason string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.deletions[id]
	d.Blocked = &dependency.Blocked{Asset: d.Root, Part: Part, Reason: reason, Until: &until}
	d.Steps = []dependency.AssetStep{{Asset: d.Root, Step: dependency.Step{Part: Part, Status: dependency.StepBlocked, Attempts: 2, LastError: reason, NextTry: &until}}}
	s.deletions[id] = d
}

// Stalled lists what Stall has marked, in one page.
func (s *Service) Stalled(ctx context.Context, _ string) (dependency.Page[dependency.Deletion], error) {
	var page dependency.Page[dependency.Deletion]
	_, leave, err := s.enterOperator(ctx, "Stalled")
	if err != nil {
		return page, err
	}
	defer leave()
	for _, d := range s.deletions {
		if d.Stalled {
			page.Items = append(page.Items, d)
		}
	}
	return page, nil
}

// Retry counts what it would drive.
func (s *Service) Retry(ctx context.Context, d dependency.Drive) (dependency.Driven, error) {
	return s.drive(ctx, "Retry", d)
}

// Force ends a deletion, whatever part is named.
func (s *Service) Force(ctx context.Context, id string, f dependency.Force) (dependency.Deletion, error) {
	c, leave, err := s.enterOperator(ctx, "Force")
	if err != nil {
		return dependency.Deletion{}, err
	}
	defer leave()
	d, err := s.findDeletion(c, id)
	if err != nil {
		return d, err
	}
	if f.Part != Part {
		return d, problem.New(problem.UnknownPart, "deletion %s has no part %q", id, f.Part).At("part")
	}
	d.Steps = []dependency.AssetStep{{Asset: d.Root, Step: dependency.Step{Part: Part, Status: dependency.StepErased, Forced: f.Reason}}}
	s.deletions[id] = d
	s.finish(id)
	return s.deletions[id], nil
}

// Audit is an asset's trail, in one page; its sequence counts for all assets.
func (s *Service) Audit(ctx context.Context, asset, _ string) (dependency.Page[dependency.AuditItem], error) {
	var page dependency.Page[dependency.AuditItem]
	_, leave, err := s.enterOperator(ctx, "Audit")
	if err != nil {
		return page, err
	}
	defer leave()
	for _, item := range s.trail {
		if item.Asset == asset {
			page.Items = append(page.Items, item)
		}
	}
	return page, nil
}

// AuditAll is the trail of all assets since a time, in pages of two.
func (s *Service) AuditAll(ctx context.Context, since time.Time, cursor string) (dependency.Page[dependency.AuditItem], error) {
	var page dependency.Page[dependency.AuditItem]
	_, leave, err := s.enterOperator(ctx, "AuditAll")
	if err != nil {
		return page, err
	}
	defer leave()
	after, _ := strconv.ParseInt(cursor, 10, 64)
	for _, item := range s.trail {
		switch {
		case item.Time.Before(since) || item.Sequence <= after:
		case len(page.Items) == 2:
			page.NextCursor = strconv.FormatInt(page.Items[1].Sequence, 10)
		default:
			page.Items = append(page.Items, item)
		}
	}
	return page, nil
}

// Follow gives the trail of one deletion as it grows.
func (s *Service) Follow(ctx context.Context, id string, each func(dependency.AuditItem) error) error {
	for next := 0; ; {
		c, leave, err := s.enter(ctx, "Follow")
		if err != nil {
			return err
		}
		_, err = s.findDeletion(c, id)
		trail, told := s.trail[next:], s.told
		leave()
		if err != nil {
			return err
		}
		for _, item := range trail {
			next++
			if item.Deletion != id {
				continue
			}
			if err := each(item); err != nil {
				return err
			}
			if item.Type == events.TypeDeletionCompleted || item.Type == events.TypeDeletionCancelled {
				return nil
			}
		}
		select {
		case <-told:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pause is remembered.
func (s *Service) Pause(ctx context.Context, reason string) error {
	return s.setPaused(ctx, "Pause", func(by string) *dependency.Pause {
		return &dependency.Pause{By: by, At: time.Now().UTC(), Reason: reason}
	})
}

// Resume is remembered.
func (s *Service) Resume(ctx context.Context) error {
	return s.setPaused(ctx, "Resume", func(string) *dependency.Pause { return nil })
}

func (s *Service) setPaused(ctx context.Context, call string, pause func(by string) *dependency.Pause) error {
	c, leave, err := s.enterOperator(ctx, call)
	if err == nil {
		s.paused = pause(c.Subject)
		leave()
	}
	return err
}
