package sqlite

import (
	"cmp"
	"context"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var deletions = table[dependency.DeletionRecord]{
	name: "deletions", key: 1,
	columns: []string{"id", "root", "owner", "status", "batch", "requested_by", "reason", "trace_parent", "requested_at", "due_at", "sent_at",
		"completed_at", "stalled_at", "total", "done", "policy", "parts", "blocked"},
	bind: func(d *dependency.DeletionRecord) []any {
		return []any{&d.ID, &d.Root, &d.Owner, &d.Status, &d.Batch, &d.RequestedBy, &d.Reason, &d.TraceParent, micros{&d.RequestedAt}, micros{&d.DueAt},
			micros{&d.SentAt}, micros{&d.CompletedAt}, micros{&d.StalledAt}, &d.Total, &d.Done, &d.Policy, document{&d.Parts}, document{&d.Blocked}}
	},
}

// Deletions reads records by their ids.
func (t *tx) Deletions(ctx context.Context, ids []string) (map[string]dependency.DeletionRecord, error) {
	found, err := deletions.find(ctx, t, "WHERE id IN (SELECT value FROM json_each(?))", list(ids))
	byID := make(map[string]dependency.DeletionRecord, len(found))
	for _, d := range found {
		byID[d.ID] = d
	}
	return byID, err
}

// SaveDeletions writes whole records.
func (t *tx) SaveDeletions(ctx context.Context, changed []dependency.DeletionRecord) error {
	return deletions.save(ctx, t, changed)
}

// ListDeletions pages by id, newest first.
func (t *tx) ListDeletions(ctx context.Context, f dependency.DeletionFilter) ([]dependency.DeletionRecord, error) {
	newest := func(a, b dependency.DeletionRecord) int { return cmp.Compare(b.ID, a.ID) }
	return byStatus(f.Statuses, f.Limit, newest, func(status dependency.Status) ([]dependency.DeletionRecord, error) {
		rest, args := listDeletions(f, status)
		return deletions.find(ctx, t, rest, args...)
	})
}

// CountDeletions counts status by status, as they are listed.
func (t *tx) CountDeletions(ctx context.Context, f dependency.DeletionFilter) (int, error) {
	counted, err := byStatus(f.Statuses, 0, cmp.Compare[int], func(status dependency.Status) ([]int, error) {
		count, args := countDeletions(f, status)
		return rows(ctx, t, func(n *int) []any { return []any{n} }, count, args...)
	})
	total := 0
	for _, n := range counted {
		total += n
	}
	if f.Limit > 0 {
		total = min(total, f.Limit)
	}
	return total, err
}

func countDeletions(f dependency.DeletionFilter, status dependency.Status) (count string, args []any) {
	rest, args := listDeletions(f, status)
	return "SELECT count(*) FROM (SELECT 1 FROM deletions " + rest + ")", args
}

func listDeletions(f dependency.DeletionFilter, status dependency.Status) (rest string, args []any) {
	const stalled = "(status = 'deleting' AND due_at < ?)"
	var w where
	w.add(f.After != "", "id < ?", f.After)
	w.add(f.Owner != "", "owner = ?", f.Owner)
	w.add(f.Batch != "", "batch = ? AND batch <> ''", f.Batch)
	w.add(status != "", "status = ?", status)
	w.add(f.Stalled != nil && *f.Stalled, stalled, micros{&f.StalledSince})
	w.add(f.Stalled != nil && !*f.Stalled, "NOT "+stalled, micros{&f.StalledSince})
	w.add(f.Blocked, "blocked IS NOT NULL")
	return w.query("id DESC", f.Limit)
}

var erasures = table[dependency.Erasure]{
	name: "erasures", key: 2,
	columns: []string{"deletion", "asset", "position", "kind", "owner", "generation", "why", "done", "check_at", "rechecks", "parts", "steps"},
	bind: func(e *dependency.Erasure) []any {
		return []any{&e.Deletion, &e.Asset, &e.Position, &e.Kind, &e.Owner, &e.Generation, &e.Why, &e.Done, micros{&e.CheckAt}, &e.Rechecks,
			document{&e.Parts}, document{&e.Steps}}
	},
}

// pairs are keys as json_each takes them.
func pairs(keys []dependency.ErasureKey) (all [][2]string) {
	for _, k := range keys {
		all = append(all, [2]string{k.Deletion, k.Asset})
	}
	return all
}

const ofErasures = "(deletion, asset) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))"

// Erasures reads records by their keys.
func (t *tx) Erasures(ctx context.Context, keys []dependency.ErasureKey) (map[dependency.ErasureKey]dependency.Erasure, error) {
	found, err := erasures.find(ctx, t, "WHERE "+ofErasures, list(pairs(keys)))
	byKey := make(map[dependency.ErasureKey]dependency.Erasure, len(found))
	for _, e := range found {
		byKey[dependency.ErasureKey{Deletion: e.Deletion, Asset: e.Asset}] = e
	}
	return byKey, err
}

// SaveErasures writes whole records.
func (t *tx) SaveErasures(ctx context.Context, changed []dependency.Erasure) error {
	return erasures.save(ctx, t, changed)
}

const (
	listErasures = "WHERE deletion = ? AND position > ? ORDER BY position LIMIT ?"
	dueErasures  = "WHERE done = 0 AND check_at > ? AND check_at <= ? ORDER BY check_at LIMIT ?"
	dueRechecks  = "WHERE done = 1 AND check_at > -62135596800000000 AND check_at <= ? ORDER BY check_at LIMIT ?"
)

// ListErasures pages by position.
func (t *tx) ListErasures(ctx context.Context, deletion string, after, limit int) ([]dependency.Erasure, error) {
	return erasures.find(ctx, t, listErasures, deletion, after, limit)
}

const firstErasures = "WHERE deletion IN (SELECT value FROM json_each(?)) AND position < ? ORDER BY deletion, position"

// FirstErasures reads the beginning of deletions.
func (t *tx) FirstErasures(ctx context.Context, ids []string, n int) (map[string][]dependency.Erasure, error) {
	found, err := erasures.find(ctx, t, firstErasures, list(ids), n)
	first := map[string][]dependency.Erasure{}
	for _, e := range found {
		first[e.Deletion] = append(first[e.Deletion], e)
	}
	return first, err
}

// DueErasures gives those to look at again, the most overdue first.
func (t *tx) DueErasures(ctx context.Context, now time.Time, done bool, limit int) ([]dependency.Erasure, error) {
	if done {
		return erasures.find(ctx, t, dueRechecks, micros{&now}, limit)
	}
	return erasures.find(ctx, t, dueErasures, micros{&time.Time{}}, micros{&now}, limit)
}
