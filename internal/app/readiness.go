package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tombstone-project/tombstone/internal/httpapi"
)

// readiness is what /readyz looks at: every store answers, and every preparation is through.
type readiness struct {
	mu     sync.Mutex
	checks []httpapi.Check
	open   map[string]error // preparations that are not through, with their last error
}

var errNotYet = errors.New("not yet")

// store adds a store that must answer.
func (r *readiness) store(name string, ping func(context.Context) error) {
	r.checks = append(r.checks, httpapi.Check{Name: name, Ping: func(ctx context.Context) error {
		if err := r.pending(name); err != nil {
			return err
		}
		return ping(ctx)
	}})
}

// expect says that a store is not ready before it is prepared.
func (r *readiness) expect(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[string]error{}
	}
	r.open[name] = errNotYet
}

// note keeps the outcome of a preparation; nil ends it.
func (r *readiness) note(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.open, name)
	} else {
		r.open[name] = err
	}
}

func (r *readiness) pending(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err, ok := r.open[name]; ok {
		return fmt.Errorf("prepare: %w", err)
	}
	return nil
}
