package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var entries = table[dependency.Entry]{
	name: "entries", key: 2,
	columns: []string{"asset", "sequence", "id", "type", "time", "deletion", "generation", "actor", "reason", "part", "detail", "evidence"},
	bind: func(e *dependency.Entry) []any {
		return []any{&e.Asset, &e.Sequence, &e.ID, &e.Type, micros{&e.Time}, &e.Deletion, &e.Generation, &e.By, &e.Reason, &e.Part, &e.Detail, &e.Evidence}
	},
}

// Append adds entries, unsent by the table's default.
func (t *tx) Append(ctx context.Context, added []dependency.Entry) error {
	return entries.insert(ctx, t, added)
}

const (
	listTrail = "WHERE asset = ? AND sequence > ? ORDER BY sequence LIMIT ?"
	// The index on type would cost at every entry: those counted are few, and looked up by their ids.
	countEntries = "SELECT type, count(*) FROM (SELECT type FROM entries WHERE id >= ? AND id < ? ORDER BY id LIMIT ?) GROUP BY type"
	listEntries  = "WHERE id > ? ORDER BY id LIMIT ?"
	listUnsent   = "WHERE unsent = 1 AND time < ? ORDER BY time, id LIMIT ?"
)

// Trail pages by sequence.
func (t *tx) Trail(ctx context.Context, asset string, after int64, limit int) ([]dependency.Entry, error) {
	return entries.find(ctx, t, listTrail, asset, after, limit)
}

// Entries pages along the ids.
func (t *tx) Entries(ctx context.Context, after string, limit int) ([]dependency.Entry, error) {
	return entries.find(ctx, t, listEntries, after, limit)
}

// CountEntries counts by type along the ids.
func (t *tx) CountEntries(ctx context.Context, from, to string, limit int) (map[string]int, error) {
	type row struct {
		kind  string
		count int
	}
	found, err := rows(ctx, t, func(r *row) []any { return []any{&r.kind, &r.count} }, countEntries, from, to, limit)
	counts := make(map[string]int, len(found))
	for _, r := range found {
		counts[r.kind] = r.count
	}
	return counts, err
}

// last is the sequence of an asset's last entry.
type last struct {
	asset    string
	sequence int64
}

const lastSequences = "SELECT asset, max(sequence) FROM entries WHERE asset IN (SELECT value FROM json_each(?)) GROUP BY asset"

// LastSequences looks at the end of each trail.
func (t *tx) LastSequences(ctx context.Context, assets []string) (map[string]int64, error) {
	found, err := rows(ctx, t, func(l *last) []any { return []any{&l.asset, &l.sequence} }, lastSequences, list(assets))
	byAsset := make(map[string]int64, len(found))
	for _, l := range found {
		byAsset[l.asset] = l.sequence
	}
	return byAsset, err
}

// Unsent gives what the feed still lacks.
func (t *tx) Unsent(ctx context.Context, before time.Time, limit int) ([]dependency.Entry, error) {
	return entries.find(ctx, t, listUnsent, micros{&before}, limit)
}

// MarkSent takes the mark off.
func (t *tx) MarkSent(ctx context.Context, ids []string) error {
	_, err := t.change(ctx, "UPDATE entries SET unsent = 0 WHERE id IN (SELECT value FROM json_each(?))", list(ids))
	return err
}

const markUnsent = `UPDATE entries SET unsent = 1 WHERE id IN (SELECT id FROM entries WHERE id > ? AND time >= ? ORDER BY id LIMIT ?) RETURNING id`

// MarkUnsent puts the mark on again, page by page along the ids.
func (t *tx) MarkUnsent(ctx context.Context, since time.Time, after string, limit int) (string, error) {
	marked, err := rows(ctx, t, func(id *string) []any { return []any{id} }, markUnsent, after, micros{&since}, limit)
	if err != nil || len(marked) < limit {
		return "", err
	}
	return slices.Max(marked), nil
}
