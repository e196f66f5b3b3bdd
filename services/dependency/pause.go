package dependency

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// settingPaused holds who paused physical deletion and when; empty: it is not paused. Being in the graph, it holds for
// every replica and over restarts.
const settingPaused = "paused"

// Pause is who stopped physical deletion, when, and why; the reason may be empty.
type Pause struct {
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

// paused reads the pause; ok is false when there is none.
func paused(ctx context.Context, tx Tx) (p Pause, ok bool, err error) {
	text, err := tx.Setting(ctx, settingPaused)
	if err != nil || text == "" {
		return Pause{}, false, err
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return Pause{}, true, fmt.Errorf("read the pause: %w", err)
	}
	return p, true, nil
}

// Pause stops physical deletion: deletions are accepted and keep their flags, nothing is published, workers erase nothing.
func (s *Service) Pause(ctx context.Context, reason string) error {
	by, err := operator(ctx)
	if err != nil {
		return err
	}
	return s.PauseAs(ctx, by.Subject, reason)
}

// PauseAs is Pause at start (TOMBSTONE_START_PAUSED), before anybody can ask. One that is there already stays.
func (s *Service) PauseAs(ctx context.Context, who, reason string) error {
	text, err := json.Marshal(Pause{By: who, At: s.now(), Reason: reason})
	if err != nil {
		return err
	}
	return s.graph.Update(ctx, func(tx Tx) error {
		if _, is, err := paused(ctx, tx); is || err != nil {
			return err
		}
		return tx.SaveSetting(ctx, settingPaused, string(text))
	})
}

// Resume goes on with physical deletion; the flags that waited are published by the relay's next look.
func (s *Service) Resume(ctx context.Context) error {
	if _, err := operator(ctx); err != nil {
		return err
	}
	err := s.graph.Update(ctx, func(tx Tx) error { return tx.SaveSetting(ctx, settingPaused, "") })
	if err == nil && s.cfg.Nudge != nil {
		s.cfg.Nudge()
	}
	return err
}
