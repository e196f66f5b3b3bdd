package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// treeWidth is how many assets are part of each, in a cascade.
const treeWidth = 10

// create makes live assets through the import and learns their generations. In a tree each but the first is part of
// another.
func (p *product) create(ctx context.Context, sc *scene, names []string, tree bool) ([]asset, error) {
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for i, id := range names {
		line := dependency.ImportLine{ID: id, Put: dependency.Put{Kind: "mesh"}}
		if tree && i > 0 {
			line.Links = &[]dependency.LinkTo{{Type: "PART_OF", To: names[(i-1)/treeWidth]}}
		}
		if err := out.Encode(line); err != nil {
			return nil, err
		}
	}
	result, err := p.ImportAssets(ctx, &lines)
	if err != nil {
		return nil, err
	}
	if result.Created != len(names) {
		return nil, fmt.Errorf("import: %+v", result)
	}
	generations, err := p.generations(ctx)
	if err != nil {
		return nil, err
	}
	var created []asset
	for _, id := range names {
		a, err := sc.asset(id, generations[id])
		if err != nil {
			return nil, err
		}
		created = append(created, a)
	}
	return created, nil
}

// generations reads those of all live assets.
func (p *product) generations(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	err := p.each(ctx, dependency.Live, func(a dependency.Asset) error {
		found[a.ID] = a.Generation
		return nil
	})
	return found, err
}

// each hands all assets in the status to f.
func (p *product) each(ctx context.Context, status dependency.Status, f func(dependency.Asset) error) error {
	for cursor := ""; ; {
		page, err := p.Assets(ctx, dependency.AssetQuery{Status: status, Cursor: cursor, Limit: 1000})
		if err != nil {
			return err
		}
		for _, a := range page.Items {
			if err := f(a); err != nil {
				return err
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

// accepted is what the clients were answered.
type accepted struct {
	mu        sync.Mutex
	deletions []string // their ids
	times     []time.Duration
}

// erase asks for the deletions and waits until all have ended.
func (p *product) erase(ctx context.Context, ids []string, clients int, a *accepted) error {
	if err := p.request(ctx, ids, clients, a); err != nil {
		return err
	}
	return p.await(ctx)
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

// await waits until every deletion has ended, as long as something still happens.
func (p *product) await(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for left, since := -1, time.Now(); ; {
		now, err := p.unfinished(ctx)
		switch {
		case now == 0 || err != nil:
			return err
		case now != left:
			left, since = now, time.Now()
		case time.Since(since) > idlePatience:
			return fmt.Errorf("nothing happened for %s, and not every deletion has ended", idlePatience)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unfinished counts what deletions that have not ended still have to do: assets on their first page, and deletions.
func (p *product) unfinished(ctx context.Context) (int, error) {
	page, err := p.Deletions(ctx, dependency.DeletionQuery{Status: dependency.Deleting, Limit: 10})
	left := 0
	for _, d := range page.Items {
		left += 1 + d.Assets.Total - d.Assets.Deleted
	}
	return left, err
}

// verify compares what was accepted with what the graph says in the end.
func (p *product) verify(ctx context.Context, a *accepted, deleted, live []asset) error {
	ended := map[string]bool{}
	for cursor := ""; ; {
		page, err := p.Deletions(ctx, dependency.DeletionQuery{Status: dependency.Deleted, Cursor: cursor, Limit: 1000})
		if err != nil {
			return err
		}
		for _, d := range page.Items {
			ended[d.ID] = d.Assets.Deleted == d.Assets.Total
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	for _, id := range a.deletions {
		if !ended[id] {
			return fmt.Errorf("lost: deletion %s was accepted and did not end", id)
		}
	}
	if err := p.count(ctx, dependency.Live, live); err != nil {
		return err
	}
	return p.count(ctx, dependency.Deleted, deleted)
}

// count wants exactly these assets to be in the status.
func (p *product) count(ctx context.Context, status dependency.Status, want []asset) error {
	wanted := map[string]bool{}
	for _, a := range want {
		wanted[a.id] = true
	}
	err := p.each(ctx, status, func(a dependency.Asset) error {
		if !wanted[a.ID] {
			return fmt.Errorf("asset %s is %s, and should not be", a.ID, status)
		}
		delete(wanted, a.ID)
		return nil
	})
	if err != nil {
		return err
	}
	for id := range wanted {
		return fmt.Errorf("asset %s is not %s", id, status)
	}
	return nil
}
