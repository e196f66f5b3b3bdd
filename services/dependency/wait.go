package dependency

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

// recheckWait is how often a waiting request looks into the graph: a completion by another replica wakes nobody here.
const recheckWait = 500 * time.Millisecond

// waiters are the requests that wait for a deletion to complete in this process.
type waiters struct {
	mu sync.Mutex
	on map[string]map[chan struct{}]bool
}

func newWaiters() *waiters { return &waiters{on: map[string]map[chan struct{}]bool{}} }

func (w *waiters) join(id string) (woken <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on[id] == nil {
		w.on[id] = map[chan struct{}]bool{}
	}
	w.on[id][c] = true
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.on[id], c)
		if len(w.on[id]) == 0 {
			delete(w.on, id)
		}
	}
}

func (w *waiters) wake(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.on[id] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// await answers when the deletion has ended or the time is over, whichever is first, with what it is then.
func (s *Service) await(ctx context.Context, d Deletion, wait time.Duration) (Deletion, error) {
	woken, leave := s.waiting.join(d.ID)
	defer leave()
	over := time.NewTimer(wait)
	defer over.Stop()
	tick := time.NewTicker(recheckWait)
	defer tick.Stop()
	for last := false; ; {
		now, err := s.Deletion(ctx, d.ID, "")
		if err != nil { // it is accepted all the same
			return d, ignoreUnavailable(err)
		}
		if d = now; last || d.Status == Deleted || d.Status == Cancelled {
			return d, nil
		}
		select {
		case <-woken:
		case <-tick.C:
		case <-over.C:
			last = true
		case <-ctx.Done():
			return d, nil
		}
	}
}

// ignoreUnavailable: a store that went away while we waited does not take the acceptance back.
func ignoreUnavailable(err error) error {
	if problemNamed(err, problem.Unavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
