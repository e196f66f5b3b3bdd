package dependency

import (
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/problem"
)

// Deletion reads one deletion with a page of its steps.
func (s *Service) Deletion(ctx context.Context, id, cursor string) (Deletion, error) {
	by, err := caller(ctx)
	if err != nil {
		return Deletion{}, err
	}
	after, err := decodeCursor("steps", cursor, -1)
	if err != nil {
		return Deletion{}, err
	}
	var out Deletion
	err = s.graph.View(ctx, func(tx Tx) error {
		d, err := visibleDeletion(ctx, tx, by, id)
		if err == nil {
			out, err = s.readView(ctx, tx, d, after)
		}
		return err
	})
	return out, err
}

// visibleDeletion reads the record of a deletion that exists for the caller.
func visibleDeletion(ctx context.Context, tx Tx, by Caller, id string) (DeletionRecord, error) {
	if !isUUID(id) {
		return DeletionRecord{}, deletionNotFound(id)
	}
	records, err := tx.Deletions(ctx, []string{id})
	if err != nil {
		return DeletionRecord{}, err
	}
	d, ok := records[id]
	if !ok || !by.sees(d.Owner) {
		return DeletionRecord{}, deletionNotFound(id)
	}
	return d, nil
}

// Deletions lists deletions, newest first.
func (s *Service) Deletions(ctx context.Context, q DeletionQuery) (Page[Deletion], error) {
	by, err := caller(ctx)
	if err != nil {
		return Page[Deletion]{}, err
	}
	f := DeletionFilter{Owner: q.Owner, Batch: q.Batch, Blocked: q.Blocked}
	if q.Status != "" {
		if !slices.Contains([]Status{Scheduled, Deleting, Deleted, Cancelled}, q.Status) {
			return Page[Deletion]{}, problem.New(problem.InvalidRequest, "status is %q; write scheduled, deleting, deleted or cancelled", q.Status).At("status")
		}
		f.Statuses = []Status{q.Status}
	}
	if !by.Operator {
		if q.Owner != "" && q.Owner != by.Owner {
			return Page[Deletion]{Items: []Deletion{}}, nil
		}
		f.Owner = by.Owner
	}
	if f.After, err = decodeCursor("deletions", q.Cursor, ""); err != nil {
		return Page[Deletion]{}, err
	}
	limit, err := pageLimit(q.Limit)
	if err != nil {
		return Page[Deletion]{}, err
	}
	f.Limit = limit + 1
	if q.Stalled != nil {
		f.StalledSince, f.Stalled = s.now().Add(-s.policy.StalledAfter), q.Stalled
	}
	return s.listDeletions(ctx, f, limit)
}

func (s *Service) listDeletions(ctx context.Context, f DeletionFilter, limit int) (Page[Deletion], error) {
	out := Page[Deletion]{Items: []Deletion{}}
	err := s.graph.View(ctx, func(tx Tx) error {
		records, err := tx.ListDeletions(ctx, f)
		if err != nil {
			return err
		}
		cut := page(records, limit, func(d DeletionRecord) string { return encodeCursor("deletions", d.ID) })
		out = Page[Deletion]{Items: []Deletion{}, NextCursor: cut.NextCursor}
		ids := make([]string, len(cut.Items))
		for i, d := range cut.Items {
			ids[i] = d.ID
		}
		first, err := tx.FirstErasures(ctx, ids, stepsShown)
		for _, d := range cut.Items {
			out.Items = append(out.Items, s.viewPage(d, first[d.ID]))
		}
		return err
	})
	return out, err
}
