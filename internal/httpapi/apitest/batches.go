package apitest

import (
	"context"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// DeleteSet accepts what exists, is live and not held; nothing blocks anything.
func (s *Service) DeleteSet(ctx context.Context, r dependency.SetRequest) (dependency.SetAnswer, error) {
	c, leave, err := s.enter(ctx, "DeleteSet")
	if err != nil {
		return dependency.SetAnswer{}, err
	}
	defer leave()
	s.sets = append(s.sets, r)
	out := dependency.SetAnswer{Batch: newID(), Results: make([]dependency.SetResult, len(r.IDs))}
	batch := dependency.Batch{ID: out.Batch, Status: dependency.Deleting}
	for i, id := range r.IDs {
		out.Results[i] = s.deleteOf(c, id, r.Reason)
		if out.Results[i].Refusal == nil {
			batch.Accepted++
			continue
		}
		batch.Refused = append(batch.Refused, out.Results[i])
		batch.RefusedTotal++
	}
	s.batches[out.Batch] = batch
	return out, nil
}

func (s *Service) deleteOf(c dependency.Caller, id, reason string) dependency.SetResult {
	a, err := s.find(c, id)
	switch {
	case err != nil:
		return dependency.SetResult{ID: id, Refusal: problem.As(err)}
	case a.Hold != nil:
		return dependency.SetResult{ID: id, Refusal: problem.New(problem.OnHold, "asset %q is on hold", id)}
	case a.Status == dependency.Live:
		now := time.Now().UTC()
		d := dependency.Deletion{ID: newID(), Root: id, Status: dependency.Deleting, RequestedBy: c.Subject, Reason: reason, RequestedAt: now, DueAt: now,
			Assets: dependency.AssetCount{Total: 1}}
		a.Status, a.Deletion = dependency.Deleting, d.ID
		s.assets[id], s.deletions[d.ID] = a, d
		s.tell(d, events.TypeDeletionRequested, c.Subject)
	}
	d := s.deletions[a.Deletion]
	return dependency.SetResult{ID: id, Deletion: &d}
}

// DeleteOwner opens a batch of all that an owner has, which stays open.
func (s *Service) DeleteOwner(ctx context.Context, r dependency.OwnerRequest) (string, error) {
	c, leave, err := s.enter(ctx, "DeleteOwner")
	if err != nil {
		return "", err
	}
	defer leave()
	if !c.Operator && r.Owner != c.Owner {
		return "", problem.New(problem.Forbidden, "you act for %q", c.Owner).At("owner")
	}
	batch := dependency.Batch{ID: newID(), Status: dependency.Deleting}
	for id, a := range s.assets {
		if a.Owner == r.Owner && s.deleteOf(c, id, r.Reason).Refusal == nil {
			batch.Accepted++
		}
	}
	s.batches[batch.ID] = batch
	return batch.ID, nil
}

// Batch reads one; the cursor is not looked at.
func (s *Service) Batch(ctx context.Context, batch, _ string) (dependency.Batch, error) {
	_, leave, err := s.enter(ctx, "Batch")
	if err != nil {
		return dependency.Batch{}, err
	}
	defer leave()
	b, ok := s.batches[batch]
	if !ok {
		return b, problem.New(problem.NotFound, "there is no batch %q", batch)
	}
	return b, nil
}

// Sets are the sets that were asked for, in order.
func (s *Service) Sets() []dependency.SetRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sets)
}
