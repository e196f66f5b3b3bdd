package dependency_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// sentAll removes the flags of everything that was handed over, as when the broker has it.
func (b *bench) sentAll() {
	b.t.Helper()
	var ids []string
	for _, f := range b.flags() {
		ids = append(ids, f.ID)
	}
	if err := b.Commands().Sent(b.t.Context(), ids); err != nil {
		b.t.Fatal(err)
	}
	runSentOnce(b.t, b)
}

// progress reports that an asset's part is in hand, failing or blocked.
func (b *bench) progress(d dependency.Deletion, p events.PartProgress) {
	b.t.Helper()
	p.Deletion, p.Asset, p.Generation = d.ID, d.Root, b.asset(d.Root).Generation
	b.report(events.TypePartProgress, p)
}

func (b *bench) stalledIDs() (ids []string) {
	b.t.Helper()
	for cursor := ""; ; {
		page, err := b.Stalled(b.ctx, cursor)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, d := range page.Items {
			ids = append(ids, d.ID)
		}
		if cursor = page.NextCursor; cursor == "" {
			return ids
		}
	}
}

func TestStalledAreThoseThatAreLateBlockedOrFailing(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{"late", "blocked", "failing", "fine", "done"} {
		b.create("item", id)
	}
	b.create("slow", "scheduled")
	b.del("scheduled")
	late := b.del("late")
	b.advance(time.Hour + time.Microsecond) // stalled_after
	blocked, failing, fine, done := b.del("blocked"), b.del("failing"), b.del("fine"), b.del("done")
	b.progress(blocked, events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "bucket-missing", Attempts: 1, LastError: "no bucket"})
	b.progress(failing, events.PartProgress{Part: "note", Status: events.ProgressErasing, Attempts: 2, LastError: "timeout"})
	b.progress(fine, events.PartProgress{Part: "note", Status: events.ProgressErasing, Attempts: 1})
	b.progress(done, events.PartProgress{Part: "note", Status: events.ProgressErasing, Attempts: 2, LastError: "timeout"})
	b.erased(done, "done", b.asset("done").Generation)
	if got, want := b.stalledIDs(), []string{failing.ID, blocked.ID, late.ID}; !slices.Equal(got, want) { // newest first
		t.Errorf("stalled: %v, want %v", got, want)
	}
	if d := b.deletion(late.ID); !d.Stalled {
		t.Errorf("past stalled_after: %s", pretty(d))
	}
	_, err := b.Stalled(b.as("acme"), "")
	refused(t, err, problem.Forbidden)
}

func TestStalledComesInPages(t *testing.T) {
	b := newBench(t)
	const n = 230
	want := map[string]bool{}
	for i := range n {
		id := fmt.Sprintf("x%d", i)
		b.create("item", id)
		want[b.del(id).ID] = true
	}
	b.advance(2 * time.Hour)
	got := b.stalledIDs()
	for _, id := range got {
		delete(want, id)
	}
	if len(got) != n || len(want) != 0 {
		t.Errorf("%d listed, %d missing; want %d and none", len(got), len(want), n)
	}
}

func TestRetryDrivesOnceAndReplaces(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.del("x")
	b.sentAll()
	next := b.now().Add(time.Hour)
	b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "bucket-missing", Attempts: 4, LastError: "no bucket", NextTry: &next})
	retry := func(drive dependency.Drive) int {
		t.Helper()
		driven, err := b.Retry(b.ctx, drive)
		if err != nil {
			t.Fatal(err)
		}
		return driven.Driven
	}
	if n := retry(dependency.Drive{All: true, OlderThan: time.Minute}); n != 0 || len(b.flags()) != 0 {
		t.Errorf("one that is younger than older_than was driven: %d", n)
	}
	if n := retry(dependency.Drive{Deletions: []string{d.ID}}); n != 1 { // long before its next try
		t.Errorf("driven: %d, want 1", n)
	}
	f := b.flags()
	if len(f) != 1 || !f[0].Replace || f[0].Deletion != d.ID {
		t.Fatalf("flags: %s; want one that replaces what waits in the broker", pretty(f))
	}
	if n := retry(dependency.Drive{All: true}); n != 0 || len(b.flags()) != 1 || b.flags()[0].ID != f[0].ID {
		t.Errorf("a repeat before the flag is sent drove %d, flags %s", n, pretty(b.flags()))
	}
	if n := b.claim(); n != 1 {
		t.Errorf("flags claimed: %d", n)
	}
	b.sentAll()
	b.erased(d, "x", a.Generation)
	b.create("slow", "later")
	waiting := b.del("later")
	if n := retry(dependency.Drive{Deletions: []string{d.ID, waiting.ID, "0190a000-0000-7000-8000-000000000000", "no id"}}); n != 0 {
		t.Errorf("finished, scheduled and unknown ones: %d driven, want none", n)
	}
	_, err := b.Retry(b.ctx, dependency.Drive{})
	refused(t, err, problem.InvalidRequest)
	_, err = b.Retry(b.as("acme"), dependency.Drive{All: true})
	refused(t, err, problem.Forbidden)
}

// H-66.
func TestForceCompletesAndSaysSoForEver(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.del("x")
	b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "bucket-missing", Attempts: 4, LastError: "no bucket"})
	b.report(events.TypePartErased, events.PartErased{Deletion: d.ID, Asset: "x", Generation: a.Generation,
		PartEvidence: events.PartEvidence{Part: "note", Generation: a.Generation, Documents: 1, Attempts: 1, SeenAbsentAt: b.now()}})
	force := dependency.Force{Part: "payload", Reason: "the bucket burned down"}
	for range 2 { // a repeat is answered like the first, and changes nothing
		got, err := b.Force(b.ctx, d.ID, force)
		if err != nil || got.Status != dependency.Deleted || got.Blocked != nil {
			t.Fatalf("forced: %s, %v", pretty(got), err)
		}
		for _, s := range got.Steps {
			want := map[string]string{"note": "", "payload": "the bucket burned down"}[s.Part]
			if s.Status != dependency.StepErased || s.Forced != want || s.ErasedAt == nil {
				t.Errorf("step: %s", pretty(s))
			}
		}
	}
	if p := b.asset("x").Parts["payload"]; p.Status != dependency.PartErased || p.Reason != "forced, not verified: the bucket burned down" {
		t.Errorf("part of the asset: %s", pretty(p))
	}
	page, err := b.Audit(b.ctx, "x", "")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, item := range page.Items {
		told = append(told, item.Type+" "+item.Part+" "+item.Detail)
	}
	want := []string{events.TypeDeletionRequested + "  ", events.TypeDeletionBlocked + " payload bucket-missing", events.TypePartErased + " note ",
		events.TypePartErased + " payload forced, not verified: the bucket burned down", events.TypeAssetErased + "  ", events.TypeDeletionCompleted + "  "}
	if !slices.Equal(told, want) {
		t.Errorf("trail: %q", told)
	}
	b.create("item", "x")
	if got := b.deletion(d.ID).Steps; !slices.ContainsFunc(got, func(s dependency.AssetStep) bool { return s.Forced != "" }) {
		t.Errorf("after a re-creation the record says nothing: %s", pretty(got))
	}
}

// H-66.
func TestForceOfManyAssetsAndWhatItRefuses(t *testing.T) {
	b := newBench(t)
	b.create("item", "root")
	const n = 30
	for i := range n {
		b.create("item", fmt.Sprintf("child-%d", i), dependency.LinkTo{Type: "PART_OF", To: "root"})
	}
	d := b.del("root")
	gone := func(part string) dependency.Force { return dependency.Force{Part: part, Reason: "gone"} }
	_, err := b.Force(b.ctx, d.ID, gone("zip"))
	refused(t, err, problem.UnknownPart)
	_, err = b.Force(b.ctx, d.ID, dependency.Force{Part: "note"})
	if p := refused(t, err, problem.InvalidRequest); p.Field != "reason" {
		t.Errorf("field %q", p.Field)
	}
	_, err = b.Force(b.ctx, d.ID, dependency.Force{Reason: "gone"})
	refused(t, err, problem.InvalidRequest)
	_, err = b.Force(b.as("acme"), d.ID, gone("note"))
	refused(t, err, problem.Forbidden)
	_, err = b.Force(b.ctx, "no id", gone("note"))
	refused(t, err, problem.NotFound)
	got, err := b.Force(b.ctx, d.ID, gone("note"))
	if err != nil || got.Status != dependency.Deleting || got.Assets.Deleted != 0 {
		t.Errorf("with the other part still to come: %s, %v", pretty(got), err)
	}
	got, err = b.Force(b.ctx, d.ID, gone("payload"))
	if err != nil || got.Status != dependency.Deleted || got.Assets.Deleted != n+1 {
		t.Errorf("with every part: %s, %v", pretty(got), err)
	}
	b.create("item", "x")
	done := b.del("x")
	b.erased(done, "x", b.asset("x").Generation)
	_, err = b.Force(b.ctx, done.ID, gone("note"))
	refused(t, err, problem.TooLate)
	b.create("slow", "later")
	_, err = b.Force(b.ctx, b.del("later").ID, gone("note"))
	refused(t, err, problem.TooLate)
}

func TestRetryOfManyDrivesEachOnce(t *testing.T) {
	b := newBench(t)
	const n = 230 // more than two transactions take
	next := b.now().Add(time.Hour)
	var ids []string
	for i := range n {
		b.create("item", fmt.Sprint("x", i))
		d := b.del(fmt.Sprint("x", i))
		b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "bucket-missing", Attempts: 4, LastError: "no bucket", NextTry: &next})
		ids = append(ids, d.ID, d.ID)
	}
	b.sentAll()
	if driven, err := b.Retry(b.ctx, dependency.Drive{Deletions: ids}); err != nil || driven.Driven != n {
		t.Fatalf("driven %d, %v; want %d", driven.Driven, err, n)
	}
	flagged := map[string]int{}
	for _, f := range b.flags() {
		flagged[f.Deletion]++
	}
	for _, id := range ids {
		if flagged[id] != 1 {
			t.Errorf("deletion %s has %d flags", id, flagged[id])
		}
	}
}
