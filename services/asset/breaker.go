package asset

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// breaker keeps commands from waiting for a bucket that does not answer in time: they would hold the places of commands
// for healthy buckets. While it is open, calls fail at once, but for one in each rest that tries.
type breaker struct {
	bucket string
	rest   time.Duration
	now    func() time.Time

	mu      sync.Mutex
	open    bool
	nextTry time.Time
}

// guarded puts a breaker before a bulk call whose ctx has a deadline.
func guarded[Q, R any](b *breaker, call bulkCall[Q, R]) bulkCall[Q, R] {
	return func(ctx context.Context, items []Q) ([]R, []error) {
		if !b.enter() {
			err := fmt.Errorf("bucket %q did not answer in time, and is tried again soon", b.bucket)
			return make([]R, len(items)), repeated(err, len(items))
		}
		values, errs := call(ctx, items)
		if !errors.Is(ctx.Err(), context.Canceled) { // who gives up says nothing of the bucket
			b.leave(ctx.Err() != nil)
		}
		return values, errs
	}
}

// enter tells whether a call may be made now.
func (b *breaker) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	if b.now().Before(b.nextTry) {
		return false
	}
	b.nextTry = b.now().Add(b.rest)
	return true
}

// leave notes how a call went: too late opens the breaker, any answer at all closes it.
func (b *breaker) leave(late bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if late {
		b.nextTry = b.now().Add(b.rest)
	}
	b.open = late
}

func repeated(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}
