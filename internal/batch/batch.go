// Package batch is group commit: while one call to a store runs, requests gather for the next. There is no timer, so an
// idle system answers at once and a busy one fills its batches by itself (DESIGN section 4).
package batch

import (
	"context"
	"sync"
)

// Run carries out one batch. results has one entry for each request, in their order; err fails all of them.
type Run[Q, R any] func(ctx context.Context, requests []Q) (results []R, err error)

// Group gathers requests into batches of at most max and runs at most lanes batches at a time. The zero value is not
// usable; New makes one. A Group needs no closing: it holds a goroutine only while there is work.
type Group[Q, R any] struct {
	run  Run[Q, R]
	max  int
	lane chan struct{}

	mu      sync.Mutex
	waiting []*item[Q, R]
}

type item[Q, R any] struct {
	request Q
	done    chan struct{}
	result  R
	err     error
}

// New makes a group. max is the largest batch (at least 1), lanes how many batches may run side by side (at least 1).
func New[Q, R any](max, lanes int, run Run[Q, R]) *Group[Q, R] {
	return &Group[Q, R]{run: run, max: max, lane: make(chan struct{}, lanes)}
}
