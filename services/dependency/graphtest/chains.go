package graphtest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// counted counts the calls that read links: a store that is far away takes its time for each.
type counted struct {
	dependency.Graph
	reads atomic.Int64
}

func (g *counted) Update(ctx context.Context, fn func(tx dependency.Tx) error) error {
	return g.Graph.Update(ctx, func(tx dependency.Tx) error { return fn(countedTx{tx, &g.reads}) })
}

type countedTx struct {
	dependency.Tx
	reads *atomic.Int64
}

func (t countedTx) Sources(ctx context.Context, targets, types []string, limit int) ([]dependency.Source, error) {
	t.reads.Add(1)
	return t.Tx.Sources(ctx, targets, types, limit)
}

func (t countedTx) Incoming(ctx context.Context, to string, types []string, after dependency.Link, limit int) ([]dependency.Source, error) {
	t.reads.Add(1)
	return t.Tx.Incoming(ctx, to, types, after, limit)
}

func (t countedTx) Outgoing(ctx context.Context, ids []string) ([]dependency.Link, error) {
	t.reads.Add(1)
	return t.Tx.Outgoing(ctx, ids)
}

// testChains deletes chains in which each asset takes the next one along: as a child of it, and as what it is the last to
// use. A cycle is such a chain, too.
func testChains(t *testing.T, g dependency.Graph) {
	const length = 2000
	for _, c := range []struct {
		name string
		next func(id, next string) dependency.Link
	}{
		{"children", func(id, next string) dependency.Link { return link(next, "REFERENCES", id) }},
		{"uses", func(id, next string) dependency.Link { return link(id, "USES", next) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			counted := &counted{Graph: g}
			r := newRules(t, counted)
			ids := r.chain(g, c.name, length, c.next)
			for _, step := range []string{"whole", "again, after a cancel"} {
				counted.reads.Store(0)
				var d dependency.Deletion
				r.must(func(ctx context.Context) (err error) {
					d, err = r.Delete(ctx, ids[0], dependency.DeleteRequest{})
					return err
				})
				if reads := counted.reads.Load(); d.Assets.Total != length || reads > length/10 {
					t.Errorf("%s: %d of %d assets go, links were read %d times", step, d.Assets.Total, length, reads)
				}
				r.must(func(ctx context.Context) error { _, err := r.Cancel(ctx, d.ID); return err })
				r.all(g, ids, dependency.Live)
			}
			save(t, g, c.next(ids[length-1], ids[0])) // a cycle
			r.must(func(ctx context.Context) error {
				d, err := r.Delete(ctx, ids[length/2], dependency.DeleteRequest{WithDependants: true})
				if err == nil && d.Assets.Total != length {
					err = fmt.Errorf("%d of %d assets of the cycle go", d.Assets.Total, length)
				}
				return err
			})
			r.all(g, ids, dependency.Deleting)
		})
	}
}

// chain makes live assets, of which the first has a grace period, each with a link between it and the next.
func (r *rules) chain(g dependency.Graph, name string, length int, next func(id, next string) dependency.Link) (ids []string) {
	r.t.Helper()
	chain := nodes("chain-"+name, "acme", length)
	var records []any
	for i, n := range chain {
		n.Kind = "bare"
		if i == 0 {
			n.Kind = "slow"
		}
		ids, records = append(ids, n.ID), append(records, n)
	}
	for i := range length - 1 {
		records = append(records, next(ids[i], ids[i+1]))
	}
	save(r.t, g, records...)
	return ids
}

// all holds the assets to a status.
func (r *rules) all(g dependency.Graph, ids []string, want dependency.Status) {
	r.t.Helper()
	found := read(r.t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
		return tx.Nodes(ctx, ids)
	})
	for _, id := range ids {
		if found[id].Status != want {
			r.t.Fatalf("%s is %s, not %s", id, found[id].Status, want)
		}
	}
}
