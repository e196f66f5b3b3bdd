package graphtest

import (
	"context"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testIncomplete(t *testing.T, g dependency.Graph) {
	t.Run("of nothing there is nothing to tell", func(t *testing.T) {
		same(t, dependency.Incomplete{}, incomplete(t, g, at(1000)))
		same(t, []string(nil), overdue(t, g, at(1000), 10))
	})
	due := func(micros int, status dependency.Status) dependency.DeletionRecord {
		d := deletion("root", "o", status)
		d.DueAt = at(micros)
		return d
	}
	first, second, third := due(10, dependency.Deleting), due(20, dependency.Deleting), due(30, dependency.Deleting)
	told := due(5, dependency.Deleting)
	told.StalledAt = at(6)
	told.Blocked = &dependency.Blocked{Asset: "root", Part: "payload", Reason: "bucket-missing"}
	third.Blocked = &dependency.Blocked{Asset: "root", Part: "payload", Reason: "object-locked"}
	second.Blocked = &dependency.Blocked{Asset: "root", Part: "note", Reason: "bucket-missing"}
	save(t, g, third, due(1, dependency.Deleted), due(1, dependency.Scheduled), first, due(1, dependency.Cancelled), second, told)
	t.Run("overdue are those deleting that the trail has not told of, the longest due first", func(t *testing.T) {
		same(t, []string{first.ID, second.ID}, overdue(t, g, at(30), 10))
		same(t, []string{first.ID, second.ID, third.ID}, overdue(t, g, at(31), 10))
		same(t, []string{first.ID}, overdue(t, g, at(31), 1))
		same(t, []string(nil), overdue(t, g, at(10), 10))
	})
	t.Run("those deleting are counted", func(t *testing.T) {
		same(t, dependency.Incomplete{Oldest: at(5), Stalled: 3, Blocked: map[string]int{"bucket-missing": 2, "object-locked": 1}}, incomplete(t, g, at(30)))
	})
	t.Run("what is completed or let go counts no longer", func(t *testing.T) {
		told.Status, told.Blocked = dependency.Deleted, nil
		second.Blocked = nil
		save(t, g, told, second)
		same(t, dependency.Incomplete{Oldest: at(10), Stalled: 1, Blocked: map[string]int{"object-locked": 1}}, incomplete(t, g, at(20)))
	})
}

func incomplete(t *testing.T, g dependency.Graph, since time.Time) dependency.Incomplete {
	t.Helper()
	return read(t, g, func(ctx context.Context, tx dependency.Tx) (dependency.Incomplete, error) {
		return tx.CountIncomplete(ctx, since)
	})
}

func overdue(t *testing.T, g dependency.Graph, before time.Time, limit int) (ids []string) {
	t.Helper()
	for _, d := range read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.DeletionRecord, error) {
		return tx.Overdue(ctx, before, limit)
	}) {
		ids = append(ids, d.ID)
	}
	return ids
}
