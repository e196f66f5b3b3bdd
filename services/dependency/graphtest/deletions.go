package graphtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testDeletions(t *testing.T, g dependency.Graph) {
	t.Run("filters combine, newest first", func(t *testing.T) { testDeletionFilters(t, g) })
	t.Run("pages give every deletion once while newer ones come", func(t *testing.T) {
		var want []string
		for range 23 {
			d := deletion("paged", "paged", dependency.Deleting)
			want = append(want, d.ID)
			save(t, g, d)
		}
		slices.Reverse(want)
		got := pageDeletions(t, g, dependency.DeletionFilter{Owner: "paged", Limit: 4}, func() {
			save(t, g, deletion("newer", "paged", dependency.Deleting))
		})
		same(t, want, got)
	})
}

func testDeletionFilters(t *testing.T, g dependency.Graph) {
	statuses := []dependency.Status{dependency.Scheduled, dependency.Deleting, dependency.Deleted, dependency.Cancelled}
	owners, batches := []string{"a", "b"}, []string{newID(), ""}
	var all []dependency.DeletionRecord
	for i := range 64 {
		d := deletion("root", owners[i%2], statuses[i/2%4])
		d.Batch, d.DueAt = batches[i/8%2], at(i/16)
		if i%3 == 0 {
			d.Blocked = &dependency.Blocked{Part: "payload", Reason: "bucket-missing"}
		}
		all = append(all, d)
	}
	save(t, g, anys(all)...)
	slices.Reverse(all)
	sets := [][]dependency.Status{nil, {dependency.Deleting}, {dependency.Scheduled, dependency.Cancelled}}
	for _, set := range sets {
		for _, owner := range []string{"", "a", "unheard-of"} {
			for _, batch := range []string{"", batches[0], "unheard-of"} {
				for _, stalled := range []*bool{nil, ptr(true), ptr(false)} {
					for _, since := range []time.Time{at(0), at(2), at(4)} {
						f := dependency.DeletionFilter{Statuses: set, Owner: owner, Batch: batch, Stalled: stalled, StalledSince: since}
						var want []string
						for _, d := range all {
							if deletionFits(d, f) {
								want = append(want, d.ID)
							}
						}
						same(t, want, listDeletions(t, g, f)) // Limit 0: all
						f.Limit = 7
						same(t, want, pageDeletions(t, g, f, nil))
						same(t, min(7, len(want)), countDeletions(t, g, f))
						f.Limit, f.Blocked = 0, true
						same(t, listDeletions(t, g, f), blockedOf(all, want))
						same(t, len(blockedOf(all, want)), countDeletions(t, g, f))
					}
				}
			}
		}
	}
}

func deletionFits(d dependency.DeletionRecord, f dependency.DeletionFilter) bool {
	stalled := d.Status == dependency.Deleting && d.DueAt.Before(f.StalledSince)
	return (f.Statuses == nil || slices.Contains(f.Statuses, d.Status)) && (f.Owner == "" || f.Owner == d.Owner) &&
		(f.Batch == "" || f.Batch == d.Batch) && (f.Stalled == nil || *f.Stalled == stalled)
}

// blockedOf are the ids of those that are blocked.
func blockedOf(all []dependency.DeletionRecord, ids []string) (blocked []string) {
	for _, d := range all {
		if d.Blocked != nil && slices.Contains(ids, d.ID) {
			blocked = append(blocked, d.ID)
		}
	}
	return blocked
}

func countDeletions(t *testing.T, g dependency.Graph, f dependency.DeletionFilter) int {
	t.Helper()
	return read(t, g, func(ctx context.Context, tx dependency.Tx) (int, error) { return tx.CountDeletions(ctx, f) })
}

func listDeletions(t *testing.T, g dependency.Graph, f dependency.DeletionFilter) (ids []string) {
	t.Helper()
	for _, d := range read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.DeletionRecord, error) {
		return tx.ListDeletions(ctx, f)
	}) {
		ids = append(ids, d.ID)
	}
	return ids
}

// pageDeletions reads page after page to an empty one; between is called after each.
func pageDeletions(t *testing.T, g dependency.Graph, f dependency.DeletionFilter, between func()) (ids []string) {
	t.Helper()
	for {
		page := listDeletions(t, g, f)
		if len(page) == 0 {
			return ids
		}
		ids = append(ids, page...)
		if len(page) > f.Limit || len(ids) > 10_000 {
			t.Fatalf("%d deletions, %d of them on a page of %d", len(ids), len(page), f.Limit)
		}
		f.After = page[len(page)-1]
		if between != nil {
			between()
		}
	}
}
