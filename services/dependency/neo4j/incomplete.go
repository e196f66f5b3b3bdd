package neo4j

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// dueEarlier are the deletions that are deleting, and due before a time.
const dueEarlier = "MATCH (d:Deletion) USING INDEX d:Deletion(status, due_at) WHERE d.status = 'deleting' AND d.due_at < $before"

// Overdue lists what the trail has not told of yet, by due_at.
func (t *tx) Overdue(ctx context.Context, dueBefore time.Time, limit int) ([]dependency.DeletionRecord, error) {
	records, err := t.read(ctx, "read overdue deletions", dueEarlier+" AND d.stalled_at IS NULL RETURN d ORDER BY d.status, d.due_at LIMIT $limit",
		params{"before": instant(dueBefore), "limit": orAll(limit)})
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeDeletion)
}

// CountIncomplete reads the indexes of what is not done.
func (t *tx) CountIncomplete(ctx context.Context, stalledSince time.Time) (found dependency.Incomplete, err error) {
	oldest, err := t.read(ctx, "find the oldest deletion", dueEarlier+" RETURN d.due_at AS due ORDER BY d.status, d.due_at LIMIT 1", params{"before": ever})
	if err != nil {
		return found, err
	}
	for _, r := range oldest {
		found.Oldest = properties(r.AsMap()).moment("due")
	}
	stalled, err := t.read(ctx, "count stalled deletions", dueEarlier+" RETURN count(*)", params{"before": instant(stalledSince)})
	if err != nil {
		return found, err
	}
	found.Stalled = int(number(stalled[0], 0))
	blocked, err := t.read(ctx, "count blocked deletions",
		"MATCH (d:Deletion) WHERE d.blocked_reason IS NOT NULL AND d.status = 'deleting' RETURN d.blocked_reason, count(*)", nil)
	for _, r := range blocked {
		if found.Blocked == nil {
			found.Blocked = map[string]int{}
		}
		found.Blocked[word(r, 0)] = int(number(r, 1))
	}
	return found, err
}

// blockedReason is kept beside the whole, for the index.
func blockedReason(b *dependency.Blocked) any {
	if b == nil {
		return nil
	}
	return b.Reason
}
