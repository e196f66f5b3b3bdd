package crash

import (
	"context"
	"encoding/json"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// picture is the whole graph.
type picture struct {
	Nodes     []dependency.Node
	Links     []dependency.Link
	Deletions []dependency.DeletionRecord
	Erasures  []dependency.Erasure
	Commands  []dependency.Command
	Trails    map[string][]dependency.Entry
	Usage     dependency.Usage
}

func (w *world) read() (g picture) {
	w.view(func(ctx context.Context, tx dependency.Tx) (err error) {
		g = picture{Trails: map[string][]dependency.Entry{}}
		const all = 10_000
		if g.Nodes, err = tx.ListNodes(ctx, dependency.NodeFilter{Limit: all}); err != nil {
			return err
		}
		var ids []string
		for _, n := range g.Nodes {
			ids = append(ids, n.ID)
			if g.Trails[n.ID], err = tx.Trail(ctx, n.ID, 0, all); err != nil {
				return err
			}
		}
		if g.Links, err = tx.Outgoing(ctx, ids); err != nil {
			return err
		}
		if g.Deletions, err = tx.ListDeletions(ctx, dependency.DeletionFilter{Limit: all}); err != nil {
			return err
		}
		for _, d := range g.Deletions {
			erasures, err := tx.ListErasures(ctx, d.ID, -1, all)
			if err != nil {
				return err
			}
			g.Erasures = append(g.Erasures, erasures...)
		}
		usage, err := tx.Usage(ctx, []string{owner})
		if err != nil {
			return err
		}
		g.Usage = usage[owner]
		g.Commands, err = tx.Commands(ctx, dependency.CommandFilter{Limit: all})
		return err
	})
	return g
}

// dump is the whole graph as text, for comparisons.
func (w *world) dump() string {
	text, err := json.MarshalIndent(w.read(), "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (w *world) same(guarantee, what, before, after string) {
	if before != after {
		w.violate(guarantee, "%s:\n%s", what, cmp.Diff(before, after))
	}
}
