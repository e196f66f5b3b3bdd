package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var commands = table[dependency.Command]{
	name: "commands", key: 1,
	columns: []string{"id", "deletion", "asset", "due_at", "since", "claimed_by", "claimed_until", "replace_copy", "cause"},
	bind: func(c *dependency.Command) []any {
		return []any{&c.ID, &c.Deletion, &c.Asset, micros{&c.DueAt}, micros{&c.Since}, &c.ClaimedBy, micros{&c.ClaimedUntil}, &c.Replace, &c.Cause}
	},
}

// Commands lists flags by (since, id).
func (t *tx) Commands(ctx context.Context, f dependency.CommandFilter) ([]dependency.Command, error) {
	rest, args := listCommands(f)
	return commands.find(ctx, t, rest, args...)
}

func listCommands(f dependency.CommandFilter) (rest string, args []any) {
	var w where
	w.add(len(f.IDs) > 0, "id IN (SELECT value FROM json_each(?))", list(f.IDs))
	w.add(len(f.Erasures) > 0, ofErasures, list(pairs(f.Erasures)))
	w.add(len(f.Deletions) > 0, "deletion IN (SELECT value FROM json_each(?))", list(f.Deletions))
	w.add(!f.DueBy.IsZero(), "due_at <= ?", micros{&f.DueBy})
	w.add(!f.FreeAt.IsZero(), "claimed_until < ?", micros{&f.FreeAt})
	w.add(!f.OlderThan.IsZero(), "since < ?", micros{&f.OlderThan})
	if f.After != nil {
		w.add(true, "(since, id) > (?, ?)", micros{&f.After.Since}, f.After.ID)
	}
	return w.query("since, id", f.Limit)
}

// SaveCommands writes whole flags.
func (t *tx) SaveCommands(ctx context.Context, changed []dependency.Command) error {
	return commands.save(ctx, t, changed)
}

// RemoveCommands removes flags by their ids.
func (t *tx) RemoveCommands(ctx context.Context, ids []string) error {
	_, err := t.change(ctx, "DELETE FROM commands WHERE id IN (SELECT value FROM json_each(?))", list(ids))
	return err
}

const dropCommands = "DELETE FROM commands WHERE deletion IN (SELECT value FROM json_each(?))"

// DropCommands removes flags by their deletions.
func (t *tx) DropCommands(ctx context.Context, deletions []string) error {
	_, err := t.change(ctx, dropCommands, list(deletions))
	return err
}

const countCommands = "SELECT count(*), min(CASE WHEN due_at <= ? THEN since END) FROM commands"

// CountCommands counts flags and finds the oldest of those due.
func (t *tx) CountCommands(ctx context.Context, now time.Time) (int, time.Time, error) {
	type row struct {
		count  int
		oldest sql.NullInt64
	}
	found, err := rows(ctx, t, func(r *row) []any { return []any{&r.count, &r.oldest} }, countCommands, micros{&now})
	if err != nil {
		return 0, time.Time{}, err
	}
	var oldest time.Time
	if since := found[0].oldest; since.Valid {
		oldest = time.UnixMicro(since.Int64).UTC()
	}
	return found[0].count, oldest, nil
}
