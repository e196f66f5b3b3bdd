package dependency_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// claim takes the flags that are due, as the relay does, and gives how many there were.
func (b *bench) claim() int {
	b.t.Helper()
	flags, err := b.Commands().Claim(b.t.Context(), 100, time.Minute)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(flags)
}

func (b *bench) hold(id, reason string) {
	b.t.Helper()
	if err := b.Hold(b.ctx, id, reason); err != nil {
		b.t.Fatalf("hold %q: %v", id, err)
	}
}

func (b *bench) release(id string) {
	b.t.Helper()
	if err := b.Release(b.ctx, id); err != nil {
		b.t.Fatalf("release %q: %v", id, err)
	}
}

func TestHoldRefusesUntilTheRelease(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	b.hold("x", "law")
	b.advance(time.Minute)
	b.hold("x", "another law") // the first stays
	before := pretty(b.asset("x"))
	if h := b.asset("x").Hold; h == nil || h.Reason != "law" || h.By != "olga" || !h.At.Equal(b.now().Add(-time.Minute)) {
		t.Errorf("hold: %+v", h)
	}
	_, err := b.Delete(b.ctx, "x", dependency.DeleteRequest{IdempotencyKey: "k"})
	if p := refused(t, err, problem.OnHold); !strings.Contains(p.Detail, "law") {
		t.Errorf("the refusal does not say why: %s", p.Detail)
	}
	if after := pretty(b.asset("x")); after != before || len(b.flags()) != 0 {
		t.Errorf("the refusal changed something:\n%s\n%s", before, after)
	}
	b.release("x")
	b.release("x") // no hold is fine
	if d := b.del("x"); d.Status != dependency.Deleting || b.asset("x").Hold != nil {
		t.Errorf("after the release: %s", pretty(d))
	}
}

func TestHoldKeepsAScheduledDeletionScheduledUntilNoAssetIsHeld(t *testing.T) {
	b := newClosureBench(t)
	b.create("slow", "root")
	b.create("bare", "left", to("PART_OF", "root"))
	b.create("bare", "right", to("PART_OF", "root"))
	d := b.del("root")
	b.hold("left", "law")
	b.advance(2 * time.Hour)
	still := func(when string) {
		t.Helper()
		if n := b.claim(); n != 0 || b.deletion(d.ID).Status != dependency.Scheduled {
			t.Errorf("%s: %d flags claimed, deletion %s", when, n, b.deletion(d.ID).Status)
		}
		driven, err := b.Replay(b.ctx, dependency.Drive{All: true})
		if err != nil || driven.Driven != 0 || len(b.commands) != 0 {
			t.Errorf("%s: a replay drove %d, %v", when, driven.Driven, err)
		}
	}
	still("with one hold")
	b.hold("right", "law")
	still("with two holds")
	b.release("left")
	still("with the other hold")
	b.release("right")
	if n := b.claim(); n != 3 || b.deletion(d.ID).Status != dependency.Deleting {
		t.Errorf("after the last release: %d flags claimed, deletion %s", n, b.deletion(d.ID).Status)
	}
}

func TestHeldDeletionStillWaitsForItsDueTimeAndMayBeCancelled(t *testing.T) {
	b := newBench(t)
	b.create("slow", "x")
	d := b.del("x")
	b.hold("x", "law")
	b.release("x")
	if n := b.claim(); n != 0 {
		t.Errorf("the release let it go %s early", time.Hour)
	}
	b.hold("x", "law")
	if _, err := b.Cancel(b.ctx, d.ID); err != nil {
		t.Fatal(err)
	}
	if a := b.asset("x"); a.Status != dependency.Live || a.Hold == nil {
		t.Errorf("after the cancel the asset is live and still held: %s", pretty(a))
	}
	_, err := b.Delete(b.ctx, "x", dependency.DeleteRequest{})
	refused(t, err, problem.OnHold)
}

func TestWhatHoldsAreRefused(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	refused(t, b.Hold(b.as("acme"), "x", "law"), problem.Forbidden)
	refused(t, b.Release(b.as("acme"), "x"), problem.Forbidden)
	refused(t, b.Hold(b.ctx, "nobody", "law"), problem.NotFound)
	d := b.del("x")
	refused(t, b.Hold(b.ctx, "x", "law"), problem.TooLate)
	b.erased(d, "x", a.Generation)
	refused(t, b.Hold(b.ctx, "x", "law"), problem.TooLate)
	if got := b.asset("x"); got.Hold != nil {
		t.Errorf("a tombstone is held: %s", pretty(got))
	}
}
