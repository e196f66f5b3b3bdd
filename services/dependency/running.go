package dependency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// errRunLost ends a run that another replica has taken over, or a person has begun anew.
var errRunLost = errors.New("the run is not ours any more")

// bySchedule is who asked for a run that came by itself.
const bySchedule = "schedule"

// running is a run in the background whose position is kept in the graph: of one replica at a time, and over restarts.
type running struct {
	ID     string    `json:"id"`
	Policy string    `json:"policy"` // hash
	By     string    `json:"by"`
	Began  time.Time `json:"began"`
	// Holder is the replica that runs it, until Until.
	Holder string    `json:"holder,omitempty"`
	Until  time.Time `json:"until"`
}

// newRun begins one under the policy in force.
func (s *Service) newRun(by string) running {
	return running{ID: newID(), Policy: s.policy.Hash, By: by, Began: s.now()}
}

// free tells whether a replica may take the run up: it has it already, or nobody shows that he lives.
func (r *running) free(replica string, now time.Time) bool {
	return r.Holder == replica || !r.Until.After(now)
}

// holds tells whether the run in the graph is this one, still held by its replica.
func (r *running) holds(kept *running) bool {
	return kept.ID == r.ID && kept.Holder == r.Holder
}

// changeState changes what a setting keeps, in a transaction; change tells whether there is anything to keep, and is asked
// again once nobody else can change it. What was never kept is the zero value.
func changeState[T any](ctx context.Context, g Graph, setting string, change func(tx Tx, state *T) (keep bool, err error)) error {
	return g.Update(ctx, func(tx Tx) error {
		_, keep, err := changed(ctx, tx, setting, change)
		if err != nil || !keep {
			return err
		}
		// Reading locks nothing, writing does: of two that have read the same, one waits here and then reads what the other wrote.
		if err := tx.SaveSetting(ctx, setting+"-lock", "-"); err != nil {
			return err
		}
		text, keep, err := changed(ctx, tx, setting, change)
		if err != nil || !keep {
			return err
		}
		return tx.SaveSetting(ctx, setting, text)
	})
}

// changed is what the setting would keep after the change.
func changed[T any](ctx context.Context, tx Tx, setting string, change func(tx Tx, state *T) (keep bool, err error)) (text string, keep bool, err error) {
	state, err := readState[T](ctx, tx, setting)
	if err != nil {
		return "", false, err
	}
	if keep, err = change(tx, &state); err != nil || !keep {
		return "", false, err
	}
	b, err := json.Marshal(state)
	return string(b), true, err
}

func readState[T any](ctx context.Context, tx Tx, setting string) (state T, err error) {
	text, err := tx.Setting(ctx, setting)
	if err != nil || text == "" {
		return state, err
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return state, fmt.Errorf("read the setting %s: %w", setting, err)
	}
	return state, nil
}

// keepUp calls work at once, and again and again until ctx ends: every minute or half of every, whichever is less, and when
// it is woken.
func keepUp(ctx context.Context, every time.Duration, woken <-chan struct{}, work func(atStart bool)) error {
	pace := time.Minute
	if every > 0 {
		pace = min(pace, max(every/2, time.Millisecond))
	}
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for atStart := true; ; atStart = false {
		work(atStart)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-woken:
		}
	}
}
