package app

import (
	"context"
	"errors"
	"time"

	"github.com/tombstone-project/tombstone/saga"
)

// preparePace is between the tries to prepare a store that does not answer yet.
var preparePace = saga.Backoff{First: 500 * time.Millisecond, Max: 10 * time.Second}

// refusal is an error that another try cannot heal: the process stops with it.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// prepare tries until it succeeds, then closes done and idles until ctx ends. A refusal ends the process.
func (p *process) prepare(store string, do func(context.Context) error, done chan<- struct{}) func(context.Context) error {
	p.ready.expect(store)
	return func(ctx context.Context) error {
		for failures := 0; ; {
			err := do(ctx)
			p.ready.note(store, err)
			if err == nil {
				close(done)
				<-ctx.Done()
				return nil
			}
			var no refusal
			if errors.As(err, &no) {
				return no.error
			}
			if failures++; failures == 1 && ctx.Err() == nil {
				p.log.Warn("store does not answer yet; it is tried again", "store", store, "error", err)
			}
			if !rest(ctx, preparePace.Delay(failures)) {
				return nil
			}
		}
	}
}

// rest waits; false when ctx ended first.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// after runs a part once its stores are prepared.
func after(run func(context.Context) error, prepared ...<-chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, c := range prepared {
			select {
			case <-c:
			case <-ctx.Done():
				return nil
			}
		}
		return run(ctx)
	}
}
