package apitest

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// DeletePart accepts the deletion of the one part that there is.
func (s *Service) DeletePart(ctx context.Context, id, part string, r dependency.DeleteRequest) (dependency.Deletion, error) {
	var none dependency.Deletion
	c, leave, err := s.enter(ctx, "DeletePart")
	if err != nil {
		return none, err
	}
	defer leave()
	a, err := s.find(c, id)
	switch {
	case err != nil:
		return none, err
	case part != Part:
		return none, problem.New(problem.UnknownPart, "kind %s has no part %q", Kind, part).At("part")
	}
	s.requests = append(s.requests, r)
	for _, d := range s.deletions {
		if d.Root == id && len(d.Parts) > 0 {
			return d, nil
		}
	}
	now := time.Now().UTC()
	d := dependency.Deletion{ID: newID(), Root: id, Parts: []string{part}, Status: dependency.Deleting, RequestedBy: c.Subject, Reason: r.Reason,
		RequestedAt: now, DueAt: now, Assets: dependency.AssetCount{Total: 1}}
	a.Parts = map[string]dependency.PartView{part: {Status: dependency.PartErasing, Generation: newID()}}
	s.assets[id], s.deletions[d.ID] = a, d
	s.tell(d, events.TypeDeletionRequested, c.Subject)
	if r.Wait > 0 {
		s.finish(d.ID)
	}
	return s.deletions[d.ID], nil
}
