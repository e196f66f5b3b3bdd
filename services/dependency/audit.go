package dependency

import (
	"context"

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
	var entries []Entry
	err = s.graph.View(ctx, func(tx Tx) (err error) {
		entries, err = tx.Trail(ctx, asset, after, maxLimit+1)
		return err
	})
	if err != nil {
		return Page[AuditItem]{}, err
	}
	cut := page(entries, maxLimit, func(e Entry) string { return encodeCursor("audit", e.Sequence) })
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
