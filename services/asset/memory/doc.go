// Package memory keeps documents, objects and the ledger in memory. It passes the contract suites of the real stores, and
// can be told to fail: tests, the exploration of crashes and the benchmark of our own code use it.
package memory

import (
	"context"
	"sync"
)

// Call is one call of a store, as a Probe sees it.
type Call struct {
	Store  string // "documents", "blobs" or "ledger"
	Method string // "Delete", …
	Bucket string // of Blobs.Delete and Blobs.Mode; of Blobs.List when all places are in one bucket
	Size   int    // how many items the call carries
}

// Probe watches the calls of the stores that share it, counts them, and may fail them. The zero value only counts.
type Probe struct {
	// Before an effect: an error fails the call and nothing happens. It may wait for ctx.
	Before func(ctx context.Context, call Call) error
	// After an effect: an error fails the call although it has happened.
	After func(ctx context.Context, call Call) error

	mu    sync.Mutex
	calls map[string]int
	items map[string]int
}

// Calls tells how many calls of a method began ("blobs.Delete").
func (p *Probe) Calls(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[method]
}

// Items tells how many items the calls of a method carried.
func (p *Probe) Items(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.items[method]
}

// around runs one call: count it, ask Before, do it, ask After. A cancelled ctx has no effect.
func (p *Probe) around(ctx context.Context, call Call, effect func()) error {
	p.count(call)
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.Before != nil {
		if err := p.Before(ctx, call); err != nil {
			return err
		}
	}
	effect()
	if p.After != nil {
		return p.After(ctx, call)
	}
	return nil
}

func (p *Probe) count(call Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls, p.items = map[string]int{}, map[string]int{}
	}
	name := call.Store + "." + call.Method
	p.calls[name]++
	p.items[name] += call.Size
}

// fill gives n times the same error.
func fill(n int, err error) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}
