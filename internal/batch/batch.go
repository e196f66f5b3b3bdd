// Package batch is group commit: while one call to a store runs, requests gather for the next. There is no timer, so an
// idle system answers at once and a busy one fills its batches by itself (DESIGN section 4).
package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// errStopped is what requesters get when run ended its goroutine without returning (runtime.Goexit).
var errStopped = errors.New("batch: run did not return")

// Run carries out one batch. results has one entry for each request, in their order; err fails all of them.
//
// ctx belongs to the batch, not to a requester: it carries no values but Requesters, and it ends only when every requester of the batch
// has given up, so one that is cancelled does not fail its neighbours. Its deadline is the latest of theirs; there is
// none when one of them has none.
type Run[Q, R any] func(ctx context.Context, requests []Q) (results []R, err error)

// Group gathers requests into batches of at most max and runs at most lanes batches at a time. The zero value is not
// usable; New makes one. A Group needs no closing: it holds a goroutine only while there is work.
type Group[Q, R any] struct {
	run   Run[Q, R]
	max   int
	lanes int

	mu      sync.Mutex
	running int           // batches under way
	waiting []*item[Q, R] // not empty only while all lanes are taken
}

type item[Q, R any] struct {
	ctx     context.Context
	request Q
	done    chan struct{} // closed when result and err are set
	result  R
	err     error
}

// New makes a group. max is the largest batch (at least 1), lanes how many batches may run side by side (at least 1).
func New[Q, R any](max, lanes int, run Run[Q, R]) *Group[Q, R] {
	if max < 1 || lanes < 1 {
		panic(fmt.Sprintf("batch: max %d and lanes %d must be at least 1", max, lanes))
	}
	return &Group[Q, R]{run: run, max: max, lanes: lanes}
}

// Do adds the request to the batch that gathers, which starts at once when a lane is free, and waits for its result.
//
// When ctx ends first it gives ctx.Err(), and the outcome is unknown: the batch may still carry the request out. A request
// whose ctx has ended before its batch starts is left out of it.
func (g *Group[Q, R]) Do(ctx context.Context, request Q) (R, error) {
	if err := ctx.Err(); err != nil {
		var none R
		return none, err
	}
	it := newItem[Q, R](ctx, request)
	g.add(it)
	return it.wait()
}

// DoAll is Do for several requests at once. They stand next to each other in the queue, so that they share batches also on
// an idle system. results and errs have one entry for each request.
func (g *Group[Q, R]) DoAll(ctx context.Context, requests []Q) (results []R, errs []error) {
	results, errs = make([]R, len(requests)), make([]error, len(requests))
	items := make([]*item[Q, R], len(requests))
	for i, request := range requests {
		items[i] = newItem[Q, R](ctx, request)
	}
	g.add(items...)
	for i, it := range items {
		results[i], errs[i] = it.wait()
	}
	return results, errs
}

func newItem[Q, R any](ctx context.Context, request Q) *item[Q, R] {
	return &item[Q, R]{ctx: ctx, request: request, done: make(chan struct{})}
}

// add queues the items and starts batches on the lanes that are free.
func (g *Group[Q, R]) add(items ...*item[Q, R]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, items...)
	for g.running < g.lanes && len(g.waiting) > 0 {
		g.running++
		g.start()
	}
}

// wait gives the item's result, or ctx.Err() when its ctx ends first.
func (it *item[Q, R]) wait() (R, error) {
	select {
	case <-it.done:
		return it.result, it.err
	case <-it.ctx.Done():
		var none R
		return none, it.ctx.Err()
	}
}

// start runs what waits as the next batch of a lane that the caller has taken, or gives the lane back when nothing
// waits. g.mu is held.
func (g *Group[Q, R]) start() {
	batch := g.take()
	if len(batch) == 0 {
		g.running--
		return
	}
	// A goroutine for each batch, so that whatever ends it, a panic included, the lane goes on.
	go func() {
		defer func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.start()
		}()
		g.carryOut(batch)
	}()
}

// take removes the next batch from what waits, without those who have given up. g.mu is held.
func (g *Group[Q, R]) take() []*item[Q, R] {
	var batch []*item[Q, R]
	taken := 0
	for _, it := range g.waiting {
		if len(batch) == g.max {
			break
		}
		taken++
		if it.ctx.Err() == nil {
			batch = append(batch, it)
		}
	}
	g.waiting = g.waiting[taken:]
	if len(g.waiting) == 0 {
		g.waiting = nil // lets go of the array, and with it of those answered
	}
	return batch
}

// carryOut runs one batch and answers everyone in it, whatever happens.
func (g *Group[Q, R]) carryOut(batch []*item[Q, R]) {
	ctx, release := together(batch)
	defer release()
	var results []R
	err := errStopped
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("batch: run panicked: %v\n%s", p, debug.Stack())
		}
		for i, it := range batch {
			if it.err = err; err == nil {
				it.result = results[i]
			}
			close(it.done)
		}
	}()
	requests := make([]Q, len(batch))
	for i, it := range batch {
		requests[i] = it.request
	}
	results, err = g.run(ctx, requests)
	if err == nil && len(results) != len(batch) {
		err = fmt.Errorf("batch: run gave %d results for %d requests", len(results), len(batch))
	}
}
