package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// accepted is what the clients were answered.
type accepted struct {
	mu        sync.Mutex
	deletions []string // their ids
	times     []time.Duration
}

// request sends a DELETE for each id, from so many clients.
func (p *product) request(ctx context.Context, ids []string, clients int, a *accepted) error {
	return fromClients(ctx, ids, clients, func(ctx context.Context, client int, id string) error {
		began := time.Now()
		d, err := p.replica(client).Delete(ctx, id, dependency.DeleteRequest{Reason: "bench"})
		if err != nil {
			return fmt.Errorf("delete %s: %w", id, err)
		}
		a.note(d.ID, time.Since(began))
		return nil
	})
}

// fromClients hands the items to so many clients, each of which takes the next when it is done with one.
func fromClients[T any](ctx context.Context, items []T, clients int, do func(ctx context.Context, client int, item T) error) error {
	next := make(chan T)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(next)
		for _, item := range items {
			select {
			case next <- item:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for client := range clients {
		g.Go(func() error {
			for item := range next {
				if err := do(ctx, client, item); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func (a *accepted) note(deletion string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deletions = append(a.deletions, deletion)
	a.times = append(a.times, took)
}
