package dependency_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// followed starts to follow, and gives the entries as they come.
func (b *bench) followed(d dependency.Deletion) (items <-chan dependency.AuditItem, ended <-chan error) {
	told, end := make(chan dependency.AuditItem, 10_000), make(chan error, 1)
	go func() {
		end <- b.Follow(b.ctx, d.ID, func(item dependency.AuditItem) error { told <- item; return nil })
		close(told)
	}()
	return told, end
}

func TestFollowTellsWhatIsThereAndWhatComes(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	b.erased(b.del("x"), "x", a.Generation) // another deletion's trail, of the same asset
	a = b.create("item", "x")
	d := b.del("x")
	items, ended := b.followed(d)
	next := func(kind, part string) {
		t.Helper()
		if item := <-items; item.Type != kind || item.Part != part || item.Deletion != d.ID || item.Asset != "x" {
			t.Errorf("told: %s, want %s %s", pretty(item), kind, part)
		}
	}
	next(events.TypeDeletionRequested, "")
	b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "bucket-missing", Attempts: 1, LastError: "no bucket"})
	next(events.TypeDeletionBlocked, "payload")
	b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "access-denied", Attempts: 2, LastError: "no access"})
	next(events.TypeDeletionBlocked, "payload")
	b.erased(d, "x", a.Generation)
	next(events.TypePartErased, "note")
	next(events.TypePartErased, "payload")
	next(events.TypeAssetErased, "")
	next(events.TypeDeletionCompleted, "")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if item, more := <-items; more {
		t.Errorf("told after the end: %s", pretty(item))
	}
}

func TestFollowEndsWithTheCancel(t *testing.T) {
	b := newBench(t)
	b.create("slow", "x")
	d := b.del("x")
	items, ended := b.followed(d)
	<-items
	if _, err := b.Cancel(b.ctx, d.ID); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if item := <-items; item.Type != events.TypeDeletionCancelled {
		t.Errorf("told: %s", pretty(item))
	}
}

func TestFollowTellsEveryEntryOfManyAssetsOnceAndTheEndLast(t *testing.T) {
	b := newBench(t)
	const n = 250 // more than two pages
	ids := []string{"root"}
	b.create("item", "root")
	for i := range n {
		ids = append(ids, fmt.Sprintf("child-%d", i))
		b.create("item", ids[i+1], dependency.LinkTo{Type: "PART_OF", To: "root"})
	}
	d := b.del("root")
	items, ended := b.followed(d)
	<-items // it follows already
	for _, id := range ids {
		b.erasedParts(d, id, "note", "payload")
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var last dependency.AuditItem
	for last = range items {
		key := fmt.Sprint(last.Asset, " ", last.Sequence)
		if seen[key] {
			t.Errorf("told twice: %s", pretty(last))
		}
		seen[key] = true
	}
	if want := 3*(n+1) + 1; len(seen) != want || last.Type != events.TypeDeletionCompleted {
		t.Errorf("%d entries after the request, the last %s; want %d, and the completion", len(seen), last.Type, want)
	}
}

func TestFollowGivesUpWithItsReader(t *testing.T) {
	b := newBench(t)
	b.create("slow", "x")
	d := b.del("x")
	ctx, cancel := context.WithCancel(b.ctx)
	err := b.Follow(ctx, d.ID, func(dependency.AuditItem) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a reader that has gone: %v", err)
	}
	broken := errors.New("broken pipe")
	if err := b.Follow(b.ctx, d.ID, func(dependency.AuditItem) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
	for _, id := range []string{d.ID, "no id"} {
		refused(t, b.Follow(b.as("globex"), id, nil), problem.NotFound)
	}
}
