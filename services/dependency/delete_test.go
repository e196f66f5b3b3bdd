package dependency_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestDeletionIsRefusedWhileSomethingDependsOnTheAsset(t *testing.T) {
	b := newBench(t)
	b.create("item", "target")
	for i := range 105 {
		b.create("bare", fmt.Sprintf("user-%03d", i), needs("target"), dependency.LinkTo{Type: "NEEDS", To: "target"})
	}
	before := pretty(b.asset("target"))
	_, err := b.Delete(b.ctx, "target", dependency.DeleteRequest{IdempotencyKey: "k"})
	p := refused(t, err, problem.HasDependants)
	first := p.Members["dependants"].([]string)
	if len(first) != 100 || first[0] != "user-000" || p.Members["dependants_total"] != 105 {
		t.Errorf("dependants named: %d from %q, total %v; want 100 from user-000, total 105", len(first), first[0], p.Members["dependants_total"])
	}
	if after := pretty(b.asset("target")); after != before {
		t.Errorf("the refusal changed the asset:\n%s\n%s", before, after)
	}
	if got := b.trail("target"); len(got) != 0 {
		t.Errorf("the refusal is in the trail: %v", got)
	}
	if len(b.flags()) != 0 || len(b.commands) != 0 {
		t.Error("the refusal wrote a flag")
	}
}

func TestAcceptedDeletionIsATombstoneAFlagAndACommand(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.del("x")
	if d.Status != dependency.Deleting || d.Root != "x" || d.Reason != "test" || d.RequestedBy != "olga" || d.Assets.Total != 1 || d.DueAt != d.RequestedAt {
		t.Errorf("deletion: %s", pretty(d))
	}
	if got := b.asset("x"); got.Status != dependency.Deleting || got.Deletion != d.ID || got.Parts["note"].Status != dependency.PartErasing {
		t.Errorf("asset: %s", pretty(got))
	}
	if f := b.flags(); len(f) != 1 || f[0].Deletion != d.ID || f[0].Asset != "x" {
		t.Errorf("flags: %s", pretty(f))
	}
	if len(b.commands) != 1 {
		t.Fatalf("commands handed over: %d, want 1", len(b.commands))
	}
	if want := (events.Names{}).Command(d.ID, "x"); b.commands[0].Message.Subject != want {
		t.Errorf("subject %q, want %q", b.commands[0].Message.Subject, want)
	}
	_, erase, err := events.DecodeCommand(b.commands[0].Message.Data)
	want := events.Erase{Deletion: d.ID, Asset: "x", Kind: "item", Owner: "acme", Generation: a.Generation, By: "olga", Reason: "test"}
	if err != nil || !cmp.Equal(erase, want) {
		t.Errorf("command: %v %s", err, cmp.Diff(want, erase))
	}
	if got := b.trail("x"); !slices.Equal(got, []string{events.TypeDeletionRequested}) {
		t.Errorf("trail: %v", got)
	}
}

// H-74: requests at once, during the run and after it are all answered with one deletion, which is completed once.
func TestManyRequestsAtOnceAreOneDeletion(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	ids := make([]string, 64)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() { ids[i] = b.del("x").ID })
	}
	wg.Wait()
	if got := slices.Compact(slices.Sorted(slices.Values(ids))); len(got) != 1 {
		t.Errorf("deletions: %v", got)
	}
	if got := b.trail("x"); !slices.Equal(got, []string{events.TypeDeletionRequested}) {
		t.Errorf("trail: %v", got)
	}
	d := b.del("x") // it runs
	b.erased(d, "x", a.Generation)
	trail := b.trail("x")
	for range 5 {
		if again := b.del("x"); again.ID != ids[0] || again.Status != dependency.Deleted {
			t.Errorf("after the end: %s", pretty(again))
		}
	}
	if got := b.trail("x"); !slices.Equal(got, trail) || trail[len(trail)-1] != events.TypeDeletionCompleted {
		t.Errorf("trail: %v, before %v", got, trail)
	}
}

// H-74: so are those for an asset and for what needs it, at once: each is accepted or refused, as in some order.
func TestOneTransactionAnswersLikeSomeOrderOfItsRequests(t *testing.T) {
	b := newBench(t)
	const n = 40 // c39 needs c38 needs … c0: in one batch all may go, from the outermost inwards
	for i := range n {
		var links []dependency.LinkTo
		if i > 0 {
			links = append(links, needs(fmt.Sprintf("c%d", i-1)))
		}
		b.create("bare", fmt.Sprintf("c%d", i), links...)
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := b.Delete(b.ctx, fmt.Sprintf("c%d", i), dependency.DeleteRequest{}); err != nil {
				refused(t, err, problem.HasDependants)
			}
		})
	}
	wg.Wait()
	for i := 1; i < n; i++ { // G4
		if b.asset(fmt.Sprintf("c%d", i)).Status == dependency.Live && b.asset(fmt.Sprintf("c%d", i-1)).Status != dependency.Live {
			t.Errorf("c%d is live and needs c%d, which is a tombstone", i, i-1)
		}
	}
}

func TestIdempotencyKeyGivesItsFirstDeletionAlsoAfterReCreation(t *testing.T) {
	b := newBench(t)
	a := b.create("bare", "x")
	key := dependency.DeleteRequest{IdempotencyKey: "k1"}
	d, err := b.Delete(b.ctx, "x", key)
	if err != nil {
		t.Fatal(err)
	}
	b.erased(d, "x", a.Generation)
	b.create("bare", "x")
	again, err := b.Delete(b.ctx, "x", key)
	if err != nil || again.ID != d.ID || again.Status != dependency.Deleted {
		t.Errorf("repeat: %s, %v; want deletion %s", pretty(again), err, d.ID)
	}
	if b.asset("x").Status != dependency.Live {
		t.Error("the repeat deleted the new generation")
	}
	b.create("bare", "y")
	_, err = b.Delete(b.ctx, "y", key)
	refused(t, err, problem.IdempotencyKeyReused)
	_, err = b.Delete(b.as("acme"), "y", key) // a key is its subject's own
	if err != nil {
		t.Errorf("another subject's key: %v", err)
	}
}

func TestRefusalsOfDeletions(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	b.create("bare", "child", dependency.LinkTo{Type: "PART_OF", To: "x"})
	cases := []struct {
		name string
		id   string
		req  dependency.DeleteRequest
		as   string
		want problem.Name
	}{
		{"unknown", "nobody", dependency.DeleteRequest{}, "", problem.NotFound},
		{"illegal id", "a\x00", dependency.DeleteRequest{}, "", problem.NotFound},
		{"foreign", "x", dependency.DeleteRequest{}, "globex", problem.NotFound},
		{"other generation", "x", dependency.DeleteRequest{IfMatch: "0190a000-0000-7000-8000-000000000000"}, "", problem.GenerationMismatch},
		{"404 comes before 412", "nobody", dependency.DeleteRequest{IfMatch: "x"}, "", problem.NotFound},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx := b.ctx
			if c.as != "" {
				ctx = b.as(c.as)
			}
			_, err := b.Delete(ctx, c.id, c.req)
			refused(t, err, c.want)
		})
	}
	if got := b.asset("x"); got.Status != dependency.Live || got.Generation != a.Generation {
		t.Errorf("after the refusals: %s", pretty(got))
	}
}

func TestKindWithGraceIsScheduledAndBegunWhenDue(t *testing.T) {
	b := newBench(t)
	b.create("slow", "x")
	d := b.del("x")
	if d.Status != dependency.Scheduled || !d.DueAt.Equal(d.RequestedAt.Add(time.Hour)) {
		t.Fatalf("deletion: %s", pretty(d))
	}
	if b.asset("x").Status != dependency.Deleting {
		t.Error("the asset of a scheduled deletion is closed for writers")
	}
	if len(b.commands) != 0 {
		t.Error("a command was sent before due_at")
	}
	claim := func() int {
		flags, err := b.Commands().Claim(t.Context(), 10, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return len(flags)
	}
	if n := claim(); n != 0 {
		t.Errorf("flags claimed before due_at: %d", n)
	}
	b.advance(time.Hour)
	if n := claim(); n != 1 {
		t.Errorf("flags claimed at due_at: %d", n)
	}
	if got := b.deletion(d.ID).Status; got != dependency.Deleting {
		t.Errorf("status once a flag was claimed: %s", got)
	}
}
