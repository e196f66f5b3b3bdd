package apitest

import (
	"context"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Expire makes the next answers of Retention.
func (s *Service) Expire(found dependency.Expired) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired = found
}

// Retention answers with what Expire has said, and refuses to apply what exceeds a share.
func (s *Service) Retention(ctx context.Context, apply bool) (dependency.Expired, error) {
	_, leave, err := s.enterOperator(ctx, "Retention")
	if err != nil {
		return dependency.Expired{}, err
	}
	defer leave()
	if apply && len(s.expired.ExceedsShare) > 0 {
		return dependency.Expired{}, problem.New(problem.ShareExceeded, "too much at once").With("exceeds_share", s.expired.ExceedsShare)
	}
	found := s.expired
	found.Applied = apply
	return found, nil
}
