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
	listTrail  = "WHERE asset = ? AND sequence > ? ORDER BY sequence LIMIT ?"
	listUnsent = "WHERE unsent = 1 AND time < ? ORDER BY time, id LIMIT ?"
)

// Trail pages by sequence.
func (t *tx) Trail(ctx context.Context, asset string, after int64, limit int) ([]dependency.Entry, error) {
	return entries.find(ctx, t, listTrail, asset, after, limit)
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
