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

// Verified are the looks that were asked for, in order.
func (s *Service) Verified() []dependency.VerifyRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.verified)
}

// Verify finds what Violate has said.
func (s *Service) Verify(ctx context.Context, r dependency.VerifyRequest) (dependency.Verification, error) {
	_, leave, err := s.enterOperator(ctx, "Verify")
	if err != nil {
		return dependency.Verification{}, err
	}
	defer leave()
	s.verified = append(s.verified, r)
	return dependency.Verification{Checked: len(s.assets), Violations: slices.Clone(s.violations), Total: len(s.violations)}, nil
}
