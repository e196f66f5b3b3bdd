package dependency

import (
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/problem"
)

// Asset reads one asset, in every status.
func (s *Service) Asset(ctx context.Context, id string) (Asset, error) {
	by, err := caller(ctx)
	if err != nil {
		return Asset{}, err
	}
	var out Asset
	err = s.graph.View(ctx, func(tx Tx) error {
		n, err := visible(ctx, tx, by, id)
		if err != nil {
			return err
		}
		links, err := tx.Outgoing(ctx, []string{id})
		out = s.view(n, shown(links, id))
		return err
	})
	return out, err
}

// visible reads a node that exists for the caller.
func visible(ctx context.Context, tx Tx, by Caller, id string) (Node, error) {
	nodes, err := tx.Nodes(ctx, []string{id})
	if err != nil {
		return Node{}, err
	}
	n, ok := nodes[id]
	if !ok || !by.sees(n.Owner) {
		return Node{}, assetNotFound(id)
	}
	return n, nil
}

// shown are the links of one source that count, in order.
func shown(links []Link, from string) (out []LinkTo) {
	for _, l := range links {
		if l.From == from && l.Hidden == "" {
			out = append(out, LinkTo{l.Type, l.To})
		}
	}
	slices.SortFunc(out, compareLinks)
	return out
}

// Assets lists assets, by id in the order of the store.
func (s *Service) Assets(ctx context.Context, q AssetQuery) (Page[Asset], error) {
	by, err := caller(ctx)
	if err != nil {
		return Page[Asset]{}, err
	}
	f := NodeFilter{Kind: q.Kind, Owner: q.Owner}
	if q.Status != "" {
		if !slices.Contains([]Status{Live, Deleting, Deleted}, q.Status) {
			return Page[Asset]{}, problem.New(problem.InvalidRequest, "status is %q; write live, deleting or deleted", q.Status).At("status")
		}
		f.Statuses = []Status{q.Status}
	}
	if !by.Operator {
		if q.Owner != "" && q.Owner != by.Owner {
			return Page[Asset]{Items: []Asset{}}, nil
		}
		f.Owner = by.Owner
	}
	if f.After, err = decodeCursor("assets", q.Cursor, ""); err != nil {
		return Page[Asset]{}, err
	}
	limit, err := pageLimit(q.Limit)
	if err != nil {
		return Page[Asset]{}, err
	}
	f.Limit = limit + 1
	var out Page[Asset]
	err = s.graph.View(ctx, func(tx Tx) (err error) {
		out, err = s.listAssets(ctx, tx, f, limit)
		return err
	})
	return out, err
}

func (s *Service) listAssets(ctx context.Context, tx Tx, f NodeFilter, limit int) (Page[Asset], error) {
	nodes, err := tx.ListNodes(ctx, f)
	if err != nil {
		return Page[Asset]{}, err
	}
	nodesPage := page(nodes, limit, func(n Node) string { return encodeCursor("assets", n.ID) })
	var ids []string
	for _, n := range nodesPage.Items {
		ids = append(ids, n.ID)
	}
	links, err := tx.Outgoing(ctx, ids)
	if err != nil {
		return Page[Asset]{}, err
	}
	bySource := map[string][]Link{}
	for _, l := range links {
		bySource[l.From] = append(bySource[l.From], l)
	}
	out := Page[Asset]{Items: []Asset{}, NextCursor: nodesPage.NextCursor}
	for _, n := range nodesPage.Items {
		out.Items = append(out.Items, s.view(n, shown(bySource[n.ID], n.ID)))
	}
	return out, nil
}

// Dependants lists the assets that have a link to this one, whatever its type, except those that are deleted or do not
// exist for the caller. So a page may be short, or empty, before the last.
func (s *Service) Dependants(ctx context.Context, id, cursor string) (Page[Dependant], error) {
	by, err := caller(ctx)
	if err != nil {
		return Page[Dependant]{}, err
	}
	after, err := decodeCursor("dependants", cursor, Link{})
	if err != nil {
		return Page[Dependant]{}, err
	}
	var sources []Source
	err = s.graph.View(ctx, func(tx Tx) error {
		if _, err := visible(ctx, tx, by, id); err != nil {
			return err
		}
		sources, err = tx.Incoming(ctx, id, nil, after, defaultLimit+1)
		return err
	})
	if err != nil {
		return Page[Dependant]{}, err
	}
	cut := page(sources, defaultLimit, func(src Source) string { return encodeCursor("dependants", src.Link) })
	out := Page[Dependant]{Items: []Dependant{}, NextCursor: cut.NextCursor}
	for _, src := range cut.Items {
		if (src.Status == Live || src.Scheduled) && by.sees(src.Owner) {
			out.Items = append(out.Items, Dependant{ID: src.From, Type: src.Type, Kind: src.Kind, Status: src.Status})
		}
	}
	return out, nil
}
