package dependency

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

// Audit lists the trail of one asset, oldest first, over all its generations.
func (s *Service) Audit(ctx context.Context, asset, cursor string) (Page[AuditItem], error) {
	if _, err := operator(ctx); err != nil {
		return Page[AuditItem]{}, err
	}
	if asset == "" {
		return Page[AuditItem]{}, problem.New(problem.InvalidRequest, "say whose trail: ?asset=ID").At("asset")
	}
	after, err := decodeCursor("audit", cursor, int64(0))
	if err != nil {
		return Page[AuditItem]{}, err
	}
	return s.auditPage(ctx, func(tx Tx) ([]Entry, error) { return tx.Trail(ctx, asset, after, maxLimit+1) },
		func(e Entry) string { return encodeCursor("audit", e.Sequence) })
}

// AuditAll lists the trails of all assets by the ids of their entries, which are in the order of time. What is written
// while it is read may be left out near the end: who goes on later begins a little before, and tells repeats by asset and
// sequence.
func (s *Service) AuditAll(ctx context.Context, since time.Time, cursor string) (Page[AuditItem], error) {
	if _, err := operator(ctx); err != nil {
		return Page[AuditItem]{}, err
	}
	first := ""
	if since.UnixMilli() > 0 {
		first = idAt(since)
	}
	after, err := decodeCursor("audit-all", cursor, first)
	if err != nil {
		return Page[AuditItem]{}, err
	}
	return s.auditPage(ctx, func(tx Tx) ([]Entry, error) { return tx.Entries(ctx, after, maxLimit+1) },
		func(e Entry) string { return encodeCursor("audit-all", e.ID) })
}

// auditPage reads one entry more than the page holds.
func (s *Service) auditPage(ctx context.Context, read func(Tx) ([]Entry, error), next func(Entry) string) (Page[AuditItem], error) {
	var entries []Entry
	err := s.graph.View(ctx, func(tx Tx) (err error) {
		entries, err = read(tx)
		return err
	})
	if err != nil {
		return Page[AuditItem]{}, err
	}
	cut := page(entries, maxLimit, next)
	out := Page[AuditItem]{Items: []AuditItem{}, NextCursor: cut.NextCursor}
	for _, e := range cut.Items {
		out.Items = append(out.Items, auditItem(e))
	}
	return out, nil
}

func auditItem(e Entry) AuditItem {
	return AuditItem{Sequence: e.Sequence, Time: e.Time, Type: e.Type, Deletion: e.Deletion, Asset: e.Asset, Generation: e.Generation,
		By: e.By, Reason: e.Reason, Part: e.Part, Detail: e.Detail}
}
