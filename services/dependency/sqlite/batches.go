package sqlite

import (
	"context"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var batches = table[dependency.BatchRecord]{
	name: "batches", key: 1,
	columns: []string{"id", "owner", "open", "requested_by", "reason", "trace_parent", "requested_at", "completed_at", "walk"},
	bind: func(b *dependency.BatchRecord) []any {
		return []any{&b.ID, &b.Owner, &b.Open, &b.RequestedBy, &b.Reason, &b.TraceParent, micros{&b.RequestedAt}, micros{&b.CompletedAt}, document{&b.Walk}}
	},
}

// Batches reads records by their ids.
func (t *tx) Batches(ctx context.Context, ids []string) (map[string]dependency.BatchRecord, error) {
	found, err := batches.find(ctx, t, "WHERE id IN (SELECT value FROM json_each(?))", list(ids))
	byID := make(map[string]dependency.BatchRecord, len(found))
	for _, b := range found {
		byID[b.ID] = b
	}
	return byID, err
}

// SaveBatches writes whole records.
func (t *tx) SaveBatches(ctx context.Context, changed []dependency.BatchRecord) error {
	return batches.save(ctx, t, changed)
}

const (
	openBatches   = "WHERE open = 1 LIMIT ?"
	erasingOwners = "WHERE open = 1 AND owner IN (SELECT value FROM json_each(?))"
	countBatch    = "SELECT status, count(*) FROM deletions WHERE batch = ? AND batch <> '' GROUP BY status"
	listRefusals  = "WHERE batch = ? AND asset > ? ORDER BY asset LIMIT ?"
)

// OpenBatches gives those that are open.
func (t *tx) OpenBatches(ctx context.Context, limit int) ([]dependency.BatchRecord, error) {
	return batches.find(ctx, t, openBatches, limit)
}

// ErasingOwners looks for open batches by owner.
func (t *tx) ErasingOwners(ctx context.Context, owners []string) (map[string]string, error) {
	found, err := batches.find(ctx, t, erasingOwners, list(owners))
	byOwner := make(map[string]string, len(found))
	for _, b := range found {
		byOwner[b.Owner] = b.ID
	}
	return byOwner, err
}

// CountBatch counts by status.
func (t *tx) CountBatch(ctx context.Context, batch string) (map[dependency.Status]int, error) {
	type row struct {
		status dependency.Status
		n      int
	}
	found, err := rows(ctx, t, func(r *row) []any { return []any{&r.status, &r.n} }, countBatch, batch)
	counts := make(map[dependency.Status]int, len(found))
	for _, r := range found {
		counts[r.status] = r.n
	}
	return counts, err
}

var refusals = table[dependency.Refusal]{
	name: "refusals", key: 2,
	columns: []string{"batch", "asset", "name", "detail", "members"},
	bind: func(r *dependency.Refusal) []any {
		return []any{&r.Batch, &r.Asset, &r.Name, &r.Detail, document{&r.Members}}
	},
}

// SaveRefusals writes whole records.
func (t *tx) SaveRefusals(ctx context.Context, kept []dependency.Refusal) error {
	return refusals.save(ctx, t, kept)
}

// RemoveRefusals deletes records.
func (t *tx) RemoveRefusals(ctx context.Context, batch string, assets []string) error {
	_, err := t.change(ctx, "DELETE FROM refusals WHERE batch = ? AND asset IN (SELECT value FROM json_each(?))", batch, list(assets))
	return err
}

// ListRefusals pages by asset.
func (t *tx) ListRefusals(ctx context.Context, batch, after string, limit int) ([]dependency.Refusal, error) {
	return refusals.find(ctx, t, listRefusals, batch, after, limit)
}

// CountRefusals counts a batch's.
func (t *tx) CountRefusals(ctx context.Context, batch string) (int, error) {
	found, err := rows(ctx, t, func(n *int) []any { return []any{n} }, "SELECT count(*) FROM refusals WHERE batch = ?", batch)
	return append(found, 0)[0], err
}
