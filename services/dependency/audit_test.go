package dependency_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestAuditTellsOfAllGenerationsOldestFirst(t *testing.T) {
	b := newBench(t)
	var want []dependency.AuditItem
	for i, reason := range []string{"first", "second"} {
		a := b.create("bare", "x")
		requested := b.now()
		d, err := b.Delete(b.as("acme"), "x", dependency.DeleteRequest{Reason: reason})
		if err != nil {
			t.Fatal(err)
		}
		b.advance(time.Minute)
		b.erased(d, "x", a.Generation)
		for j, kind := range []string{events.TypeDeletionRequested, events.TypeAssetErased, events.TypeDeletionCompleted} {
			item := dependency.AuditItem{Sequence: int64(3*i + j + 1), Time: b.now(), Type: kind, Deletion: d.ID, Asset: "x", Generation: a.Generation,
				By: "acme-user", Reason: reason}
			if j == 0 {
				item.Time = requested
			}
			want = append(want, item)
		}
	}
	got, err := b.Audit(b.ctx, "x", "")
	if err != nil || !slices.Equal(got.Items, want) || got.NextCursor != "" {
		t.Errorf("trail: %v\n%s\nwant\n%s", err, pretty(got), pretty(want))
	}
}

func TestAuditComesInPages(t *testing.T) {
	b := newBench(t)
	const n = 501 // twice as many entries; a page has 1,000
	b.create("slow", "x")
	for range n {
		d := b.del("x")
		if _, err := b.Cancel(b.ctx, d.ID); err != nil {
			t.Fatal(err)
		}
	}
	next := int64(1)
	for cursor, pages := "", 1; ; pages++ {
		page, err := b.Audit(b.ctx, "x", cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			if item.Sequence != next {
				t.Fatalf("page %d: sequence %d, want %d", pages, item.Sequence, next)
			}
			next++
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if next != 2*n+1 {
		t.Errorf("%d entries, want %d", next-1, 2*n)
	}
}

func TestAuditIsForOperators(t *testing.T) {
	b := newBench(t)
	b.create("bare", "x")
	_, err := b.AuditAll(b.as("acme"), time.Time{}, "")
	refused(t, err, problem.Forbidden)
	_, err = b.AuditAll(b.ctx, time.Time{}, "cursor of another list")
	refused(t, err, problem.InvalidRequest)
	_, err = b.Audit(b.as("acme"), "x", "")
	refused(t, err, problem.Forbidden)
	if page, err := b.Audit(b.ctx, "nobody", ""); err != nil || page.Items == nil || len(page.Items) != 0 {
		t.Errorf("an asset that nobody knows: %s, %v", pretty(page), err)
	}
	_, err = b.Audit(b.ctx, "x", "cursor of another list")
	refused(t, err, problem.InvalidRequest)
}

func TestTheTrailsOfAllAssets(t *testing.T) {
	b := newRetention(t, scans(""))
	b.results("r", 1050)
	b.expire()
	then := time.Now() // ids are of the system's time, which the clock of these tests is not
	b.create("bare", "late")
	b.del("late")
	read := func(since time.Time) (all []dependency.AuditItem, pages int) {
		t.Helper()
		for cursor := ""; ; pages++ {
			p, err := b.AuditAll(b.ctx, since, cursor)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p.Items...)
			if cursor = p.NextCursor; cursor == "" {
				return all, pages + 1
			}
		}
	}
	all, pages := read(time.Time{})
	seen := map[string]bool{}
	for _, item := range all {
		seen[item.Asset] = true
	}
	if len(all) != 1051 || len(seen) != 1051 || pages != 2 || all[0].By != "retention" || all[1050].Asset != "late" {
		t.Errorf("%d entries of %d assets on %d pages, the last of %q", len(all), len(seen), pages, all[len(all)-1].Asset)
	}
	if late, _ := read(then); len(late) == 0 || len(late) > 1000 || late[len(late)-1].Asset != "late" {
		t.Errorf("since then: %d entries", len(late))
	}
	if old, _ := read(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)); len(old) != 1051 {
		t.Errorf("since the sixties: %d entries", len(old))
	}
}
