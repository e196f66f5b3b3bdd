package apitest

import (
	"context"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Orphan makes the next answers of Sweep.
func (s *Service) Orphan(found dependency.Findings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orphans = found
}

// Sweep answers with what Orphan has said; there is always something, unless the graph is empty.
func (s *Service) Sweep(ctx context.Context, apply bool) (dependency.Findings, error) {
	_, leave, err := s.enterOperator(ctx, "Sweep")
	if err != nil {
		return dependency.Findings{}, err
	}
	defer leave()
	if len(s.assets) == 0 {
		return dependency.Findings{}, problem.New(problem.EmptyGraph, "there is no asset in the graph")
	}
	found := s.orphans
	found.Applied = apply
	return found, nil
}
