package batch

import (
	"context"
	"sync/atomic"
	"time"
)

// requestersKey is that of the one value that a batch's context has.
type requestersKey struct{}

// Requesters gives the contexts of everybody for whom the work of ctx is done: those who wait for the batch, through batches of
// batches; ctx itself outside of a batch. It is for what tells of the work, as traces do, never for what the work may depend on.
func Requesters(ctx context.Context) []context.Context {
	list, ok := ctx.Value(requestersKey{}).(func() []context.Context)
	if !ok {
		return []context.Context{ctx}
	}
	var all []context.Context
	for _, requester := range list() {
		all = append(all, Requesters(requester)...)
	}
	return all
}

// requesters lists the contexts of a batch's items, when somebody asks.
func requesters[Q, R any](batch []*item[Q, R]) func() []context.Context {
	return func() []context.Context {
		all := make([]context.Context, len(batch))
		for i, it := range batch {
			all[i] = it.ctx //nolint:fatcontext // a list of contexts, none made of another
		}
		return all
	}
}

// together is the context of a batch: it ends when the contexts of all its items have ended, or by release. Values are
// left out on purpose, but for Requesters: work done for many must not carry the identity of one.
func together[Q, R any](batch []*item[Q, R]) (ctx context.Context, release func()) {
	ctx, cancel := withLatestDeadline(context.WithValue(context.Background(), requestersKey{}, requesters(batch)), batch)
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
func withLatestDeadline[Q, R any](parent context.Context, batch []*item[Q, R]) (context.Context, context.CancelFunc) {
	var latest time.Time
	for _, it := range batch {
		deadline, ok := it.ctx.Deadline()
		if !ok {
			return context.WithCancel(parent)
		}
		if deadline.After(latest) {
			latest = deadline
		}
	}
	return context.WithDeadline(parent, latest)
}
