package batch

import (
	"context"
	"sync/atomic"
	"time"
)

// together is the context of a batch: it ends when the contexts of all its items have ended, or by release. Values are
// left out on purpose: work done for many must not carry the identity of one.
func together[Q, R any](batch []*item[Q, R]) (ctx context.Context, release func()) {
	ctx, cancel := withLatestDeadline(batch)
	var interested atomic.Int64
	interested.Store(int64(len(batch)))
	stops := make([]func() bool, len(batch))
	for i, it := range batch {
		stops[i] = context.AfterFunc(it.ctx, func() {
			if interested.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// withLatestDeadline has the latest deadline among the items, so that a driver can tell its server how long to try; none
// when an item has none.
func withLatestDeadline[Q, R any](batch []*item[Q, R]) (context.Context, context.CancelFunc) {
	var latest time.Time
	for _, it := range batch {
		deadline, ok := it.ctx.Deadline()
		if !ok {
			return context.WithCancel(context.Background())
		}
		if deadline.After(latest) {
			latest = deadline
		}
	}
	return context.WithDeadline(context.Background(), latest)
}
