package apitest

import (
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Violate makes what Verify finds from now on.
func (s *Service) Violate(violations ...dependency.Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = violations
}

// Verify finds what Violate has said.
func (s *Service) Verify(ctx context.Context) (dependency.Verification, error) {
	_, leave, err := s.enterOperator(ctx, "Verify")
	if err != nil {
		return dependency.Verification{}, err
	}
	defer leave()
	return dependency.Verification{Checked: len(s.assets), Violations: slices.Clone(s.violations), Total: len(s.violations)}, nil
}
