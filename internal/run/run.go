// Package run is the life of a process: its long-lived parts start in order and stop in reverse order, so that what is
// needed by others is there before them and after them.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Part is one long-lived part of a process. Run returns nil when its context ends; returning earlier, or with an error,
// stops the whole process.
type Part struct {
	Name string
	Run  func(ctx context.Context) error
}

// Until runs the parts until ctx ends or one of them returns, then stops them from the last to the first, each within
// patience, and waits for it before the next one is stopped. A part that does not stop in time is left behind and named
// in the error. The error is that of the part that ended the run, joined with those of parts that failed to stop well.
func Until(ctx context.Context, log *slog.Logger, patience time.Duration, parts ...Part) error {
	ended := make(chan *running, len(parts))
	base := context.WithoutCancel(ctx)
	all := make([]*running, len(parts))
	for i, p := range parts {
		all[i] = start(base, p, ended)
	}
	var errs []error
	select {
	case <-ctx.Done():
	case r := <-ended:
		errs = append(errs, r.early())
	}
	for i := len(all) - 1; i >= 0; i-- {
		log.Debug("stopping", "part", all[i].Name)
		errs = append(errs, all[i].stop(patience))
	}
	return errors.Join(errs...)
}

type running struct {
	Part
	cancel context.CancelFunc
	done   chan struct{}
	err    error
	told   bool // its error is reported already
}

func start(ctx context.Context, p Part, ended chan<- *running) *running {
	ctx, cancel := context.WithCancel(ctx)
	r := &running{Part: p, cancel: cancel, done: make(chan struct{})}
	go func() {
		r.err = p.Run(ctx)
		close(r.done)
		ended <- r
	}()
	return r
}

// early is the error of a part that returned before it was asked to.
func (r *running) early() error {
	r.told = true
	if r.err == nil {
		return fmt.Errorf("%s stopped by itself", r.Name)
	}
	return r.err
}

func (r *running) stop(patience time.Duration) error {
	r.cancel()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
		return fmt.Errorf("%s did not stop within %s", r.Name, patience)
	}
	if r.told || r.err == nil || errors.Is(r.err, context.Canceled) {
		return nil
	}
	return r.err
}
