package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/problem"
)

// Usage reads an owner's counters.
func (s *Service) Usage(ctx context.Context, owner string) (UsageView, error) {
	by, err := caller(ctx)
	if err != nil {
		return UsageView{}, err
	}
	if !by.sees(owner) {
		return UsageView{}, problem.New(problem.NotFound, "there is no owner %q", owner)
	}
	var used Usage
	err = s.graph.View(ctx, func(tx Tx) error {
		counters, err := tx.Usage(ctx, []string{owner})
		used = counters[owner]
		return err
	})
	limit := s.policy.Quotas.For(owner)
	return UsageView{Assets: used.Assets, Bytes: used.Bytes, Pending: used.Pending, Limit: UsageLimit(limit)}, err
}
