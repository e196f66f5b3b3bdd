package dependency

import (
	"context"
	"time"
)

// takeTurn tells whether something that is done every so often is due, and notes in the graph that it is done now: so that
// replicas do not do it one after the other. What was begun and not ended is done again next time.
func (s *Service) takeTurn(ctx context.Context, setting string, every time.Duration) (due bool, err error) {
	err = changeState(ctx, s.graph, setting, func(_ Tx, last *time.Time) (bool, error) {
		now := s.now()
		if due = !last.Add(every).After(now); due {
			*last = now
		}
		return due, nil
	})
	return due, err
}
