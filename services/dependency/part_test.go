package dependency_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func (b *bench) delPart(id, part string) dependency.Deletion {
	b.t.Helper()
	d, err := b.DeletePart(b.ctx, id, part, dependency.DeleteRequest{Reason: "test"})
	if err != nil {
		b.t.Fatalf("delete part %s of %q: %v", part, id, err)
	}
	return d
}

// admit asks for a part, and gives the generation that the answer names.
func (b *bench) admit(id, part string, write bool) (string, error) {
	admitted, err := b.Admit(b.t.Context(), events.Admission{Asset: id, Part: part, Operator: true, Write: write})
	return admitted.Generation, err
}

func (b *bench) rewrite(id, part string) string {
	b.t.Helper()
	generation, err := b.admit(id, part, true)
	if err != nil {
		b.t.Fatalf("write part %s of %q: %v", part, id, err)
	}
	return generation
}

// wanted asks the gate whether a part of a generation is to be erased for a deletion.
func (b *bench) wanted(d dependency.Deletion, asset dependency.Asset, part, generation string) bool {
	b.t.Helper()
	answers, err := b.Current(b.t.Context(), []events.Question{{Deletion: d.ID, Asset: asset.ID, Generation: asset.Generation,
		Parts: map[string]string{part: generation}}})
	if err != nil || len(answers) != 1 {
		b.t.Fatalf("ask: %v, %v", answers, err)
	}
	return answers[0].Erase
}

func TestDeletionOfAPartLeavesTheRestOfTheAsset(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	b.create("bare", "needs-it", needs("x"))
	used := b.usage("acme")
	d := b.delPart("x", "payload")
	if d.Status != dependency.Deleting || d.Root != "x" || !slices.Equal(d.Parts, []string{"payload"}) || len(d.Steps) != 1 ||
		d.Steps[0].Part != "payload" || d.Steps[0].Generation != a.Generation {
		t.Errorf("deletion: %s", pretty(d))
	}
	_, erase, err := events.DecodeCommand(b.commands[0].Message.Data)
	want := events.Erase{Deletion: d.ID, Asset: "x", Kind: "item", Owner: "acme", Generation: a.Generation, By: "olga", Reason: "test",
		Parts: map[string]string{"payload": a.Generation}}
	if err != nil || !cmp.Equal(erase, want) {
		t.Errorf("command: %v %s", err, cmp.Diff(want, erase))
	}
	now := b.asset("x")
	if p := now.Parts["payload"]; now.Status != dependency.Live || now.Deletion != "" || p.Status != dependency.PartErasing || p.Generation <= a.Generation {
		t.Errorf("asset while its part goes: %s", pretty(now))
	}
	if p := now.Parts["note"]; p.Status != dependency.PartPresent || p.Generation != a.Generation {
		t.Errorf("the other part: %s", pretty(now))
	}
	if !b.wanted(d, a, "payload", a.Generation) || b.wanted(d, a, "payload", now.Parts["payload"].Generation) || b.wanted(d, a, "note", a.Generation) {
		t.Error("the gate lets exactly the part go that was asked for, in the generation it was in")
	}
	if again := b.delPart("x", "payload"); again.ID != d.ID {
		t.Errorf("a repeat is deletion %s, not %s", again.ID, d.ID)
	}
	b.erased(d, "x", a.Generation)
	b.erased(d, "x", a.Generation) // a late copy
	now = b.asset("x")
	if p := now.Parts["payload"]; p.Status != dependency.PartErased || p.ErasedAt == nil || p.Reason != "test" || now.Status != dependency.Live {
		t.Errorf("asset once its part is gone: %s", pretty(now))
	}
	if done := b.delPart("x", "payload"); done.ID != d.ID || done.Status != dependency.Deleted || done.Assets.Deleted != 1 {
		t.Errorf("a repeat once it is done: %s", pretty(done))
	}
	if got := b.trail("x"); !slices.Equal(got, []string{events.TypeDeletionRequested, events.TypePartErased, events.TypeDeletionCompleted}) {
		t.Errorf("trail: %v", got)
	}
	if b.usage("acme") != used || len(b.flags()) != 0 || len(now.Links) != 0 {
		t.Errorf("usage %+v, before %+v, flags %v", b.usage("acme"), used, b.flags())
	}
}

func TestDeletedPartIsWrittenAgainInItsNewGeneration(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	if g, err := b.admit("x", "note", true); err != nil || g != a.Generation {
		t.Fatalf("generation of the first write: %s, %v; want the asset's", g, err)
	}
	first := b.delPart("x", "note")
	_, err := b.admit("x", "note", false)
	if p := refused(t, err, problem.Gone); p.Members["deletion"] != first.ID {
		t.Errorf("the refusal names %v", p.Members)
	}
	// Written again while the old content is still being erased: both go on, apart.
	g := b.rewrite("x", "note")
	if p := b.asset("x").Parts["note"]; g <= a.Generation || p.Status != dependency.PartPresent || p.Generation != g {
		t.Fatalf("generation %s, part %s", g, pretty(p))
	}
	second := b.delPart("x", "note")
	if second.ID == first.ID || second.Steps[0].Generation != g {
		t.Fatalf("deletion of what was written again: %s", pretty(second))
	}
	if !b.wanted(first, a, "note", a.Generation) || !b.wanted(second, a, "note", g) || b.wanted(first, a, "note", g) {
		t.Error("the gate must keep the two deletions of the part apart")
	}
	b.erased(first, "x", a.Generation)
	if p := b.asset("x").Parts["note"]; p.Status != dependency.PartErasing || b.deletion(first.ID).Status != dependency.Deleted {
		t.Errorf("once the first is done, the second still runs: %s", pretty(p))
	}
	b.erased(second, "x", a.Generation)
	if p := b.asset("x").Parts["note"]; p.Status != dependency.PartErased {
		t.Errorf("once both are done: %s", pretty(p))
	}
	if last := b.rewrite("x", "note"); last <= g {
		t.Errorf("generation %s after %s", last, g)
	}
	if p := b.asset("x").Parts["note"]; p.Status != dependency.PartPresent || p.ErasedAt != nil || p.Reason != "" {
		t.Errorf("written again after all: %s", pretty(p))
	}
}

func TestRefusalsOfDeletionsOfParts(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	b.create("item", "held")
	b.hold("held", "law")
	before := pretty(b.asset("x"))
	cases := []struct {
		name, id, part, as string
		req                dependency.DeleteRequest
		want               problem.Name
	}{
		{"unknown asset", "nobody", "note", "", dependency.DeleteRequest{IfMatch: "z"}, problem.NotFound},
		{"foreign asset", "x", "note", "globex", dependency.DeleteRequest{}, problem.NotFound},
		{"unknown part comes before the generation", "x", "nothing", "", dependency.DeleteRequest{IfMatch: "z"}, problem.UnknownPart},
		{"no part", "x", "", "", dependency.DeleteRequest{}, problem.UnknownPart},
		{"other generation comes before the hold", "held", "note", "", dependency.DeleteRequest{IfMatch: "z"}, problem.GenerationMismatch},
		{"held", "held", "note", "", dependency.DeleteRequest{IdempotencyKey: "k"}, problem.OnHold},
		{"with dependants", "x", "note", "", dependency.DeleteRequest{WithDependants: true}, problem.InvalidRequest},
		{"with a plan", "x", "note", "", dependency.DeleteRequest{IfPlan: "z"}, problem.InvalidRequest},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx := b.ctx
			if c.as != "" {
				ctx = b.as(c.as)
			}
			_, err := b.DeletePart(ctx, c.id, c.part, c.req)
			refused(t, err, c.want)
		})
	}
	if after := pretty(b.asset("x")); after != before || len(b.flags()) != 0 || len(b.trail("x")) != 0 {
		t.Errorf("a refusal changed something:\n%s\n%s", before, after)
	}
}

func TestConditionsOfDeletionsOfParts(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	req := dependency.DeleteRequest{IfMatch: a.Generation, IdempotencyKey: "k"}
	d, err := b.DeletePart(b.ctx, "x", "note", req)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.DeletePart(b.ctx, "x", "note", dependency.DeleteRequest{IfMatch: a.Generation}); err != nil || again.ID != d.ID {
		t.Errorf("a repeat with the generation that goes: %s, %v", again.ID, err)
	}
	g := b.rewrite("x", "note")
	_, err = b.DeletePart(b.ctx, "x", "note", dependency.DeleteRequest{IfMatch: a.Generation})
	if p := refused(t, err, problem.GenerationMismatch); p.Members["generation"] != g {
		t.Errorf("the refusal names %v; the part is in %s", p.Members, g)
	}
	if again, err := b.DeletePart(b.ctx, "x", "note", req); err != nil || again.ID != d.ID {
		t.Errorf("the key gives its first deletion after a rewrite: %s, %v", again.ID, err)
	}
	for _, other := range []func() (dependency.Deletion, error){
		func() (dependency.Deletion, error) { return b.Delete(b.ctx, "x", req) },
		func() (dependency.Deletion, error) { return b.DeletePart(b.ctx, "x", "payload", req) },
	} {
		_, err := other()
		refused(t, err, problem.IdempotencyKeyReused)
	}
	if next, err := b.DeletePart(b.ctx, "x", "note", dependency.DeleteRequest{IfMatch: g}); err != nil || next.ID == d.ID {
		t.Errorf("with the part's own generation: %s, %v", next.ID, err)
	}
}

func TestScheduledDeletionOfAPartIsCancelledOrBegun(t *testing.T) {
	b := newBench(t)
	a := b.create("slow", "x")
	d := b.delPart("x", "note")
	if d.Status != dependency.Scheduled || b.asset("x").Parts["note"].Status != dependency.PartErasing {
		t.Fatalf("deletion: %s", pretty(d))
	}
	_, err := b.admit("x", "note", true)
	refused(t, err, problem.Gone) // it may come back, so nothing may be written over it
	b.hold("x", "law")
	b.advance(2 * time.Hour)
	if n := b.claim(); n != 0 {
		t.Errorf("%d flags were claimed while the asset is held", n)
	}
	b.release("x")
	cancelled, err := b.Cancel(b.ctx, d.ID)
	if err != nil || cancelled.Status != dependency.Cancelled {
		t.Fatalf("cancel: %s, %v", pretty(cancelled), err)
	}
	if now := b.asset("x"); now.Parts["note"].Status != dependency.PartPresent || now.Parts["note"].Generation != a.Generation || now.Status != dependency.Live {
		t.Errorf("after the cancel: %s", pretty(now))
	}
	if g := b.rewrite("x", "note"); g != a.Generation || len(b.flags()) != 0 {
		t.Errorf("a write after the cancel goes to %s; flags %v", g, b.flags())
	}
	again := b.delPart("x", "note")
	b.advance(time.Hour)
	if n := b.claim(); n != 1 || again.ID == d.ID || b.deletion(again.ID).Status != dependency.Deleting {
		t.Fatalf("%d flags claimed of deletion %s", n, pretty(b.deletion(again.ID)))
	}
	_, err = b.Cancel(b.ctx, again.ID)
	refused(t, err, problem.TooLate)
	b.rewrite("x", "note") // nothing comes back any more
}

func TestAssetGoesWhileItsPartsAreBeingDeleted(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	notWritten := b.delPart("x", "payload")
	rewritten := b.delPart("x", "note")
	g := b.rewrite("x", "note")
	whole := b.del("x")
	generations := map[string]string{}
	for _, s := range whole.Steps {
		generations[s.Part] = s.Generation
	}
	if want := map[string]string{"note": g, "payload": a.Generation}; !cmp.Equal(generations, want) {
		t.Errorf("the whole is erased where there may be something: %s", cmp.Diff(want, generations))
	}
	if now := b.delPart("x", "payload"); now.ID != whole.ID {
		t.Errorf("the deletion of a part of what goes is %s, not the whole's %s", now.ID, whole.ID)
	}
	b.erased(whole, "x", a.Generation)
	if now := b.deletion(whole.ID); now.Status != dependency.Deleting || b.asset("x").Status != dependency.Deleting {
		t.Fatalf("the asset is deleted while an older content of its note is still there: %s", pretty(now))
	}
	x, err := b.Explain(b.ctx, whole.ID)
	if err != nil || len(x.MayDo) != 1 || !slices.Contains([]string{"tombstone explain " + rewritten.ID, "tombstone explain " + notWritten.ID}, x.MayDo[0]) {
		t.Errorf("explanation: %s, %v", pretty(x), err)
	}
	b.erased(notWritten, "x", a.Generation)
	if b.asset("x").Status != dependency.Deleting {
		t.Fatal("the asset is deleted while an older content of its note is still there")
	}
	b.erased(rewritten, "x", a.Generation)
	for _, d := range []dependency.Deletion{notWritten, rewritten, whole} {
		if now := b.deletion(d.ID); now.Status != dependency.Deleted {
			t.Errorf("at the end: %s", pretty(now))
		}
	}
	if now := b.asset("x"); now.Status != dependency.Deleted || now.Parts["note"].Status != dependency.PartErased || now.Parts["note"].Generation != g {
		t.Errorf("at the end: %s", pretty(now))
	}
	if n := b.usage("acme"); n != (dependency.Usage{}) || len(b.flags()) != 0 {
		t.Errorf("usage %+v, flags %v", n, b.flags())
	}
	next := b.create("item", "x")
	if p := next.Parts["note"]; p.Status != dependency.PartPresent || p.Generation != next.Generation {
		t.Errorf("the next generation starts with parts of its own: %s", pretty(next))
	}
}

func TestCancelledDeletionOfAPartIsErasedByTheAssets(t *testing.T) {
	b := newBench(t)
	a := b.create("slow", "x")
	part, whole := b.delPart("x", "note"), b.del("x")
	if _, err := b.Cancel(b.ctx, part.ID); err != nil {
		t.Fatal(err)
	}
	if now := b.asset("x"); now.Status != dependency.Deleting || whole.Steps[0].Generation != a.Generation {
		t.Fatalf("the asset goes on, with what came back: %s", pretty(whole))
	}
	b.advance(time.Hour)
	b.claim()
	b.erased(whole, "x", a.Generation)
	if now := b.asset("x"); now.Status != dependency.Deleted {
		t.Errorf("at the end: %s", pretty(now))
	}
}

func TestForcedPartSaysSoInTheAsset(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	d := b.delPart("x", "payload")
	done, err := b.Force(b.ctx, d.ID, dependency.Force{Part: "payload", Reason: "the bucket is gone"})
	if err != nil || done.Status != dependency.Deleted {
		t.Fatalf("force: %s, %v", pretty(done), err)
	}
	if p := b.asset("x").Parts["payload"]; p.Status != dependency.PartErased || p.Reason != "forced, not verified: the bucket is gone" {
		t.Errorf("part: %s", pretty(p))
	}
}
