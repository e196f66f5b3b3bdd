package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// ofIncomplete names the index: without statistics the planner would walk along another.
const ofIncomplete = "INDEXED BY deletions_incomplete WHERE status = 'deleting'"

const (
	overdue      = ofIncomplete + " AND due_at < ? AND stalled_at = ? ORDER BY due_at LIMIT ?"
	oldestDue    = "SELECT min(due_at) FROM deletions " + ofIncomplete
	countStalled = "SELECT count(*) FROM deletions " + ofIncomplete + " AND due_at < ?"
	countBlocked = "SELECT coalesce(blocked ->> 'reason', ''), count(*) FROM deletions WHERE status = 'deleting' AND blocked IS NOT NULL GROUP BY 1"
)

// Overdue lists what the trail has not told of yet, by due_at.
func (t *tx) Overdue(ctx context.Context, dueBefore time.Time, limit int) ([]dependency.DeletionRecord, error) {
	return deletions.find(ctx, t, overdue, micros{&dueBefore}, micros{&time.Time{}}, limit)
}

// CountIncomplete reads the small indexes of what is not done.
func (t *tx) CountIncomplete(ctx context.Context, stalledSince time.Time) (found dependency.Incomplete, err error) {
	oldest, err := rows(ctx, t, func(n *sql.NullInt64) []any { return []any{n} }, oldestDue)
	if err != nil {
		return found, err
	}
	if oldest[0].Valid {
		found.Oldest = time.UnixMicro(oldest[0].Int64).UTC()
	}
	stalled, err := rows(ctx, t, func(n *int) []any { return []any{n} }, countStalled, micros{&stalledSince})
	if err != nil {
		return found, err
	}
	found.Stalled = stalled[0]
	type row struct {
		reason string
		count  int
	}
	blocked, err := rows(ctx, t, func(r *row) []any { return []any{&r.reason, &r.count} }, countBlocked)
	for _, r := range blocked {
		if found.Blocked == nil {
			found.Blocked = map[string]int{}
		}
		found.Blocked[r.reason] = r.count
	}
	return found, err
}
