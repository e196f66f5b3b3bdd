package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// treeWidth is how many assets are part of each, in a cascade.
const treeWidth = 10

// create makes live assets through the import and learns their generations. In a tree each but the first is part of
// another.
func (p *product) create(ctx context.Context, sc *scene, names []string, tree bool) ([]asset, error) {
	lines, err := importLines(names, tree)
	if err != nil {
		return nil, err
	}
	if err := p.load(ctx, lines, len(names)); err != nil {
		return nil, err
	}
	generations, err := p.stores.generations(ctx, sc, names)
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

// importLines are what an import of the assets reads.
func importLines(names []string, tree bool) (*bytes.Buffer, error) {
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
	return &lines, nil
}

// load imports so many lines.
func (p *product) load(ctx context.Context, lines *bytes.Buffer, n int) error {
	result, err := p.ImportAssets(ctx, lines)
	if err == nil && result.Created != n {
		return fmt.Errorf("import: %+v", result)
	}
	return err
}

// generations reads those of some assets past the product, which tells them of one asset or of all.
func (s *stores) generations(ctx context.Context, sc *scene, ids []string) (found map[string]string, err error) {
	graph, err := s.openGraph(ctx, sc)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, graph.Close(ctx)) }()
	found = map[string]string{}
	for chunk := range slices.Chunk(ids, bareBatch) {
		err := graph.View(ctx, func(tx dependency.Tx) error {
			nodes, err := tx.Nodes(ctx, chunk)
			for id, n := range nodes {
				found[id] = n.Generation
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
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

// erase asks for the deletions and waits until all have ended.
func (p *product) erase(ctx context.Context, ids []string, clients int, a *accepted) error {
	if err := p.request(ctx, ids, clients, a); err != nil {
		return err
	}
	return p.await(ctx)
}

// await waits until every deletion has ended.
func (p *product) await(ctx context.Context) error {
	return progress(ctx, func() (int, error) { return p.unfinished(ctx) })
}

// progress waits until nothing is left, as long as something still happens.
func progress(ctx context.Context, look func() (int, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for left, since := -1, time.Now(); ; {
		now, err := look()
		switch {
		case now == 0 || err != nil:
			return err
		case now != left:
			left, since = now, time.Now()
		case time.Since(since) > idlePatience:
			return fmt.Errorf("nothing happened for %s, and there is still something to do", idlePatience)
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
