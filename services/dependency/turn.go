package dependency

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// takeTurn tells whether something that is done every so often is due, and notes in the graph that it is done now: so that
// replicas do not do it one after the other. What was begun and not ended is done again next time.
func (s *Service) takeTurn(ctx context.Context, setting string, every time.Duration) (due bool, err error) {
	err = s.graph.Update(ctx, func(tx Tx) error {
		due = false
		var last time.Time
		text, err := tx.Setting(ctx, setting)
		if err != nil {
			return err
		}
		if text != "" {
			if err := json.Unmarshal([]byte(text), &last); err != nil {
				return fmt.Errorf("read when %s was done last: %w", setting, err)
			}
		}
		now := s.now()
		if due = !last.Add(every).After(now); !due {
			return nil
		}
		b, err := json.Marshal(now)
		if err != nil {
			return err
		}
		return tx.SaveSetting(ctx, setting, string(b))
	})
	return due, err
}
