package dependency_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const purges = `
links: {PART_OF: {on_target_delete: cascade}}
tombstones: {keep: 100d}
kinds: {item: {parts: {note: {document: {collection: notes, key: "{id}/{generation}"}}}}, bare: {}}
`

func (b *bench) purge() {
	b.t.Helper()
	if err := b.Purge(b.t.Context()); err != nil {
		b.t.Fatalf("purge: %v", err)
	}
}

// deleted deletes an asset to the end.
func (b *bench) deleted(id string) dependency.Deletion {
	b.t.Helper()
	generation := b.asset(id).Generation
	d := b.del(id)
	b.erased(d, id, generation)
	return b.deletion(d.ID)
}

func TestOldTombstonesArePurged(t *testing.T) {
	b := newRetention(t, purges)
	for _, id := range []string{"live", "gone", "going"} {
		b.create("item", id)
	}
	b.create("item", "whole")
	b.create("item", "half", dependency.LinkTo{Type: "PART_OF", To: "whole"})
	first := b.asset("gone")
	d := b.deleted("gone")
	half := b.del("whole") // one of its two assets is not done
	b.erased(half, "whole", b.asset("whole").Generation)
	b.del("going")
	trail, used := b.trail("gone"), b.usage("acme")
	b.advance(100*day - time.Microsecond)
	b.purge()
	if got := b.asset("gone").Status; got != dependency.Deleted {
		t.Fatalf("before its time it is %s", got)
	}
	b.advance(day)
	b.purge()
	_, err := b.Asset(b.ctx, "gone")
	refused(t, err, problem.NotFound)
	_, err = b.Delete(b.ctx, "gone", dependency.DeleteRequest{})
	refused(t, err, problem.NotFound)
	b.stays("live")
	b.goes("going", "whole", "half")
	if diff := cmp.Diff(trail, b.trail("gone")); diff != "" || b.usage("acme") != used {
		t.Errorf("the trail outlives the asset, and usage knows nothing of it: %+v, was %+v\n%s", b.usage("acme"), used, diff)
	}
	if diff := cmp.Diff(d, b.deletion(d.ID)); diff != "" {
		t.Errorf("the deletion:\n%s", diff)
	}
	if _, err := b.Receipt(b.ctx, d.ID); err != nil {
		t.Errorf("the receipt: %v", err)
	}
	again := b.create("item", "gone")
	if again.Generation <= first.Generation || again.Parts["note"].Status != dependency.PartPresent {
		t.Errorf("created again: %s", pretty(again))
	}
	second := b.deleted("gone")
	if diff := cmp.Diff([]string{events.TypeDeletionRequested, events.TypePartErased, events.TypeAssetErased, events.TypeDeletionCompleted,
		events.TypeDeletionRequested, events.TypePartErased, events.TypeAssetErased, events.TypeDeletionCompleted}, b.trail("gone")); diff != "" || second.ID == d.ID {
		t.Errorf("the trail goes on:\n%s", diff)
	}
}

func TestPurgeOnceADay(t *testing.T) {
	b := newRetention(t, purges)
	b.purge()
	b.create("bare", "x")
	b.create("bare", "y")
	b.deleted("x")
	b.advance(101 * day)
	b.purge()
	_, err := b.Asset(b.ctx, "x")
	refused(t, err, problem.NotFound)
	b.deleted("y")
	b.advance(100*day - time.Hour)
	b.purge()
	b.advance(2 * time.Hour)
	b.purge() // it was done two hours ago
	b.goes("y")
	b.advance(day)
	b.purge()
	_, err = b.Asset(b.ctx, "y")
	refused(t, err, problem.NotFound)
}

func TestTombstonesAreKeptForEver(t *testing.T) {
	b := newRetention(t, scans(""))
	b.create("bare", "x")
	b.deleted("x")
	b.advance(100 * 365 * day)
	b.purge()
	b.goes("x")
}

// A tombstone that is created again while the purge looks at it stays, with its new generation.
func TestPurgeLooksAgain(t *testing.T) {
	b := newRetention(t, purges)
	b.create("bare", "x")
	b.deleted("x")
	b.advance(101 * day)
	g := &interrupted{Graph: b.graph}
	s, _ := b.replica(g, purges)
	transactions := 0
	g.before = func() error {
		if transactions++; transactions == 2 {
			b.create("bare", "x")
		}
		return nil
	}
	if err := s.Purge(t.Context()); err != nil || transactions != 2 {
		t.Fatalf("%d transactions, %v", transactions, err)
	}
	b.stays("x")
}
