package dependency_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// own creates an asset of another owner than the operator's.
func (b *bench) own(owner, kind, id string, links ...dependency.LinkTo) {
	b.t.Helper()
	if _, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: kind, Owner: owner, Links: &links}); err != nil {
		b.t.Fatalf("create %q of %s: %v", id, owner, err)
	}
}

func (b *bench) wipe(owner string) string {
	b.t.Helper()
	batch, err := b.DeleteOwner(b.ctx, dependency.OwnerRequest{Owner: owner, Reason: "leaves"})
	if err != nil {
		b.t.Fatalf("delete owner %s: %v", owner, err)
	}
	return batch
}

func (b *bench) drive() {
	b.t.Helper()
	if err := b.DriveBatches(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// finishAll reports everything that is deleting as erased.
func (b *bench) finishAll(owner string) {
	b.t.Helper()
	for {
		page, err := b.Assets(b.ctx, dependency.AssetQuery{Owner: owner, Status: dependency.Deleting, Limit: 1000})
		if err != nil {
			b.t.Fatal(err)
		}
		if len(page.Items) == 0 {
			return
		}
		for _, a := range page.Items {
			b.erased(b.deletion(a.Deletion), a.ID, a.Generation)
		}
	}
}

// refusedBy gives the refusals of a batch by asset.
func (b *bench) refusedBy(batch string) map[string]*problem.Problem {
	b.t.Helper()
	out := map[string]*problem.Problem{}
	for _, r := range b.batch(batch).Refused {
		out[r.ID] = r.Refusal
	}
	return out
}

func TestEverythingOfAnOwnerGoes(t *testing.T) {
	b := newClosureBench(t)
	const n = 450 // more than two pages of assets
	for i := range n {
		b.own("gone", "bare", fmt.Sprintf("mine-%03d", i))
	}
	for i := range n - 1 { // a ring in every ten, across the order of the pages
		if i%10 < 9 {
			b.link(fmt.Sprintf("mine-%03d", (i*7)%n), "DEPENDS_ON", fmt.Sprintf("mine-%03d", ((i+1)*7)%n))
		} else {
			b.link(fmt.Sprintf("mine-%03d", (i*7)%n), "DEPENDS_ON", fmt.Sprintf("mine-%03d", ((i-9)*7)%n))
		}
	}
	b.own("gone", "bare", "child", to("PART_OF", "mine-000"))
	b.own("other", "bare", "theirs")
	batch := b.wipe("gone")
	if again := b.wipe("gone"); again != batch {
		t.Errorf("a repeat opened batch %s beside %s", again, batch)
	}
	b.drive()
	if got := b.batch(batch); got.Status != dependency.Deleting || got.Accepted != n+1 || got.Deleted != 0 || got.RefusedTotal != 0 {
		t.Errorf("once all is accepted: %s", pretty(got))
	}
	_, _, err := b.PutAsset(b.ctx, "mine-new", dependency.Put{Kind: "bare", Owner: "gone"})
	refused(t, err, problem.OwnerErasing)
	b.finishAll("gone")
	b.drive()
	if got := b.batch(batch); got.Status != dependency.Deleted || got.Deleted != n+1 {
		t.Errorf("at the end: %s", pretty(got))
	}
	b.is(dependency.Live, "theirs")
	if u := b.usage("gone"); u != (dependency.Usage{}) {
		t.Errorf("usage at the end: %+v", u)
	}
	b.own("gone", "bare", "mine-new")
	if next := b.wipe("gone"); next == batch {
		t.Error("a wipe after the end is a new one")
	}
}

func (b *bench) link(from, kind, to string) {
	b.t.Helper()
	if err := b.Link(b.ctx, from, kind, to); err != nil {
		b.t.Fatalf("link %s to %s: %v", from, to, err)
	}
}

func TestOwnerWipeLeavesWhatMustStay(t *testing.T) {
	b := newClosureBench(t)
	b.own("gone", "bare", "base")
	b.own("gone", "bare", "mid", to("DEPENDS_ON", "base"))
	b.own("other", "bare", "foreign", to("DEPENDS_ON", "mid"))
	b.own("gone", "bare", "held")
	b.own("gone", "bare", "kept", to("PART_OF", "held"))
	b.own("gone", "bare", "parent")
	b.own("other", "bare", "foreign-child", to("PART_OF", "parent"))
	b.own("gone", "bare", "free")
	b.own("other", "bare", "mentions", to("REFERENCES", "free"))
	b.own("other", "bare", "shared")
	b.own("gone", "bare", "user", to("USES", "shared"))
	b.own("gone", "bare", "needed-by-held")
	b.link("held", "DEPENDS_ON", "needed-by-held")
	b.hold("held", "law")
	batch := b.wipe("gone")
	b.drive()
	got := b.refusedBy(batch)
	for id, by := range map[string]string{"base": "mid", "mid": "foreign", "parent": "foreign-child", "needed-by-held": "held"} {
		p := got[id]
		if p == nil || p.Name != problem.HasDependants || !slices.Equal(p.Members["dependants"].([]any), []any{by}) {
			t.Errorf("%s: %s, want it kept by %s", id, pretty(p), by)
		}
	}
	if p := got["held"]; p == nil || p.Name != problem.OnHold {
		t.Errorf("held: %s, want it on hold", pretty(p))
	}
	if len(got) != 5 || b.batch(batch).Accepted != 3 {
		t.Errorf("refused: %s, batch %s", pretty(got), pretty(b.batch(batch)))
	}
	b.is(dependency.Live, "base", "mid", "foreign", "held", "parent", "foreign-child", "mentions", "shared", "needed-by-held")
	b.is(dependency.Deleting, "free", "user", "kept")
	b.finishAll("gone")
	b.drive()
	if now := b.batch(batch); now.Status != dependency.Deleted || now.Deleted != 3 || now.RefusedTotal != 5 {
		t.Errorf("at the end: %s", pretty(now))
	}
}

func TestNobodyWritesForAnOwnerThatIsBeingErased(t *testing.T) {
	b := newClosureBench(t)
	b.own("gone", "slow", "mine")
	b.own("gone", "slow", "going")
	b.own("other", "bare", "theirs")
	before := b.del("going")
	batch := b.wipe("gone")
	_, _, changed := b.PutAsset(b.ctx, "mine", dependency.Put{Kind: "slow", Attributes: map[string]any{"a": "b"}})
	_, _, created := b.PutAsset(b.as("gone"), "new", dependency.Put{Kind: "bare"})
	_, _, linked := b.PutAsset(b.ctx, "theirs", dependency.Put{Kind: "bare", Links: &[]dependency.LinkTo{to("REFERENCES", "mine")}})
	_, leased := b.Lease(b.ctx, events.LeaseRequest{Asset: "mine", Operator: true})
	_, cancelled := b.Cancel(b.ctx, before.ID)
	for name, err := range map[string]error{
		"change": changed, "creation": created, "link in a change": linked, "link to": b.Link(b.ctx, "theirs", "DEPENDS_ON", "mine"),
		"link from": b.Link(b.ctx, "mine", "DEPENDS_ON", "theirs"), "unlinking": b.Unlink(b.ctx, "mine", "DEPENDS_ON", "theirs"),
		"cancelling an earlier deletion": cancelled, "lease": leased,
	} {
		t.Run(name, func(t *testing.T) {
			if p := refused(t, err, problem.OwnerErasing); p.Members["batch"] != batch {
				t.Errorf("the refusal names %v", p.Members)
			}
		})
	}
	result, err := b.ImportAssets(b.as("gone"), strings.NewReader(`{"id":"new","kind":"bare"}`))
	if err != nil || result.Failed != 1 || result.Errors[0].Type != "/problems/owner-erasing" {
		t.Errorf("import: %s, %v", pretty(result), err)
	}
	b.drive()
	own := b.asset("mine").Deletion
	if _, err := b.Cancel(b.ctx, own); err != nil { // within its grace, on purpose
		t.Errorf("cancel of what the batch took: %v", err)
	}
	b.drive()
	if got := b.batch(batch); got.Status != dependency.Deleting || got.Cancelled != 1 {
		t.Errorf("while the earlier deletion is not done: %s", pretty(got))
	}
	b.advance(time.Hour)
	b.claim()
	b.finishAll("gone")
	b.drive()
	if got := b.batch(batch); got.Status != dependency.Deleted {
		t.Errorf("at the end: %s", pretty(got))
	}
	b.own("gone", "bare", "new")
}

func TestPartsOfAnOwnerThatIsBeingErasedAreReadAndNotWritten(t *testing.T) {
	b := newBench(t)
	b.own("gone", "item", "mine")
	batch := b.wipe("gone")
	if _, err := b.admit("mine", "note", false); err != nil {
		t.Errorf("read: %v", err)
	}
	_, err := b.admit("mine", "note", true)
	if p := refused(t, err, problem.OwnerErasing); p.Members["batch"] != batch {
		t.Errorf("the refusal names %v", p.Members)
	}
	_, err = b.Grant(b.ctx, events.GrantRequest{Asset: "mine", Part: "payload", Name: "x", Operator: true})
	refused(t, err, problem.OwnerErasing)
	b.drive()
	_, err = b.admit("mine", "note", true)
	refused(t, err, problem.Gone)
}

func TestOwnersWipeOnlyThemselves(t *testing.T) {
	b := newClosureBench(t)
	_, err := b.DeleteOwner(b.as("globex"), dependency.OwnerRequest{Owner: "acme"})
	refused(t, err, problem.Forbidden)
	_, err = b.DeleteOwner(b.ctx, dependency.OwnerRequest{})
	refused(t, err, problem.InvalidRequest)
	batch, err := b.DeleteOwner(b.as("globex"), dependency.OwnerRequest{Owner: "globex"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Batch(b.as("acme"), batch, ""); !errors.Is(err, problem.NotFound) {
		t.Errorf("another owner's batch: %v", err)
	}
	b.drive() // an owner without assets has come to its end
	if got := b.batch(batch); got.Status != dependency.Deleted || got.Accepted != 0 {
		t.Errorf("batch: %s", pretty(got))
	}
}

func TestOwnerWipeGoesRoundWhatTakesTooMuchAlong(t *testing.T) {
	b := newClosureBench(t) // 50 assets a deletion
	b.own("gone", "bare", "hub")
	for i := range 120 {
		b.own("gone", "bare", fmt.Sprintf("spoke-%03d", i), to("DEPENDS_ON", "hub"))
	}
	for i := range 60 { // a ring of which nothing can go without the rest
		b.own("gone", "bare", fmt.Sprintf("ring-%02d", i))
	}
	for i := range 60 {
		b.link(fmt.Sprintf("ring-%02d", i), "DEPENDS_ON", fmt.Sprintf("ring-%02d", (i+1)%60))
	}
	batch := b.wipe("gone")
	b.drive()
	b.is(dependency.Deleting, "hub", "spoke-000", "spoke-119")
	b.is(dependency.Live, "ring-00", "ring-59")
	got := b.refusedBy(batch)
	if len(got) != 60 || got["ring-17"] == nil || got["ring-17"].Name != problem.TooManyAssets {
		t.Errorf("refused: %s", pretty(got))
	}
	b.finishAll("gone")
	b.drive()
	if now := b.batch(batch); now.Status != dependency.Deleted || now.Deleted != 121 {
		t.Errorf("at the end: %s", pretty(now))
	}
}

func TestReplicasDriveOneBatchTogetherAndGoOnAfterCrashes(t *testing.T) {
	b := newClosureBench(t)
	const n = 500
	for i := range n {
		var links []dependency.LinkTo
		if i > 0 {
			links = append(links, to("REFERENCES", fmt.Sprintf("mine-%03d", i-1)))
		}
		b.own("gone", "bare", fmt.Sprintf("mine-%03d", i), links...)
	}
	batch := b.wipe("gone")
	life := 20 * time.Millisecond // of a process; it grows, so that a slow machine comes to an end too
	for ; b.batch(batch).Accepted < n; life += life / 4 {
		var all errgroup.Group
		for range 3 { // each a process that ends after a moment, wherever it is
			other := benchOn(t, b.graph, closurePolicy)
			all.Go(func() error {
				ctx, crash := context.WithTimeout(t.Context(), life)
				defer crash()
				if err := other.DriveBatches(ctx); err != nil && ctx.Err() == nil {
					return err
				}
				return nil
			})
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		if got := b.trail(fmt.Sprintf("mine-%03d", i)); len(got) != 1 {
			t.Fatalf("trail of mine-%03d: %v", i, got)
		}
	}
	b.finishAll("gone")
	b.drive()
	if got := b.batch(batch); got.Status != dependency.Deleted || got.Accepted != n || got.Deleted != n || got.RefusedTotal != 0 {
		t.Errorf("at the end: %s", pretty(got))
	}
}
