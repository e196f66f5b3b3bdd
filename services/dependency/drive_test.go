package dependency_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// H-14.
func TestReportCompletesOnceAndEverythingWithIt(t *testing.T) {
	b := newBench(t)
	b.create("bare", "base")
	size := int64(7)
	links := []dependency.LinkTo{needs("base")}
	a, _, err := b.PutAsset(b.ctx, "x", dependency.Put{Kind: "item", Bytes: &size, Links: &links})
	if err != nil {
		t.Fatal(err)
	}
	d := b.del("x")
	if got, want := b.usage("acme"), (dependency.Usage{Assets: 2, Bytes: 7, Pending: 7}); got != want {
		t.Errorf("usage while deleting: %+v, want %+v", got, want)
	}
	b.advance(time.Minute)
	for range 3 { // G5: a repeat changes nothing
		b.erased(d, "x", a.Generation)
	}
	done := b.deletion(d.ID)
	if done.Status != dependency.Deleted || done.CompletedAt == nil || done.SentAt == nil || done.Assets.Deleted != 1 {
		t.Errorf("deletion: %s", pretty(done))
	}
	for _, s := range done.Steps {
		if s.Status != dependency.StepErased || s.Objects != 2 || s.Documents != 1 || s.Bytes != 10 || s.ErasedAt == nil {
			t.Errorf("step: %s", pretty(s))
		}
	}
	got := b.asset("x")
	if got.Status != dependency.Deleted || len(got.Links) != 0 || got.Parts["payload"].Status != dependency.PartErased || got.Parts["payload"].ErasedAt == nil {
		t.Errorf("asset: %s", pretty(got))
	}
	if got, want := b.usage("acme"), (dependency.Usage{Assets: 1}); got != want {
		t.Errorf("usage afterwards: %+v, want %+v", got, want)
	}
	want := []string{events.TypeDeletionRequested, events.TypePartErased, events.TypePartErased, events.TypeAssetErased, events.TypeDeletionCompleted}
	if got := b.trail("x"); !slices.Equal(got, want) {
		t.Errorf("trail: %v, want %v", got, want)
	}
	if len(b.flags()) != 0 {
		t.Error("the flag stayed")
	}
	b.del("base") // nothing depends on it any more
}

// H-63.
func TestReportsThatMustNotCount(t *testing.T) {
	b := newBench(t)
	old := b.create("item", "x")
	first := b.del("x")
	b.erased(first, "x", old.Generation)
	live := b.create("item", "x")
	b.create("item", "y")
	running := b.del("y")
	evidence := func(gen string, parts ...string) (list []events.PartEvidence) {
		for _, p := range parts {
			list = append(list, events.PartEvidence{Part: p, Generation: gen, SeenAbsentAt: b.now()})
		}
		return list
	}
	y := b.asset("y")
	cases := map[string]events.AssetErased{
		"of an older generation":          {Deletion: first.ID, Asset: "x", Generation: old.Generation, Parts: evidence(old.Generation, "note", "payload")},
		"forged for a live asset":         {Deletion: first.ID, Asset: "x", Generation: live.Generation, Parts: evidence(live.Generation, "note", "payload")},
		"of another asset's deletion":     {Deletion: running.ID, Asset: "x", Generation: live.Generation, Parts: evidence(live.Generation, "note", "payload")},
		"without evidence of every part":  {Deletion: running.ID, Asset: "y", Generation: y.Generation, Parts: evidence(y.Generation, "note")},
		"with evidence of another age":    {Deletion: running.ID, Asset: "y", Generation: y.Generation, Parts: evidence(old.Generation, "note", "payload")},
		"of a deletion that nobody knows": {Deletion: "0190a000-0000-7000-8000-000000000000", Asset: "y", Generation: y.Generation, Parts: evidence(y.Generation, "note", "payload")},
	}
	for name, r := range cases {
		t.Run(name, func(t *testing.T) {
			b.report(events.TypeAssetErased, r)
			if got := b.asset("x"); got.Status != dependency.Live || got.Generation != live.Generation {
				t.Errorf("x: %s", pretty(got))
			}
			if got := b.asset("y").Status; got != dependency.Deleting {
				t.Errorf("y is %s", got)
			}
		})
	}
}

// H-21.
func TestLinksOfADenseNodeGoInPages(t *testing.T) {
	b := newBench(t)
	const n = 5200 // more than one page
	a := b.create("bare", "hub")
	var links []dependency.LinkTo
	for i := range n {
		b.create("bare", fmt.Sprintf("t%d", i))
		links = append(links, needs(fmt.Sprintf("t%d", i)))
	}
	if _, _, err := b.PutAsset(b.ctx, "hub", dependency.Put{Kind: "bare", Links: &links}); err != nil {
		t.Fatal(err)
	}
	b.erased(b.del("hub"), "hub", a.Generation)
	if got := b.asset("hub"); got.Status != dependency.Deleted || len(got.Links) != 0 {
		t.Errorf("hub is %s with %d links", got.Status, len(got.Links))
	}
}

func TestSilentErasureIsFlaggedAgainOnce(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.del("x")
	if err := b.Commands().Sent(t.Context(), []string{b.flags()[0].ID}); err != nil {
		t.Fatal(err)
	}
	runSentOnce(t, b)
	if len(b.flags()) != 0 {
		t.Fatal("the sent flag was not removed")
	}
	if b.deletion(d.ID).SentAt == nil {
		t.Error("sent_at is not noted")
	}
	resend := func() (flags []dependency.Command) {
		if err := b.Resend(t.Context()); err != nil {
			t.Fatal(err)
		}
		return b.flags()
	}
	b.advance(10*time.Minute - time.Second)
	if f := resend(); len(f) != 0 {
		t.Errorf("flagged before resend_after: %s", pretty(f))
	}
	b.report(events.TypePartProgress, events.PartProgress{Deletion: d.ID, Asset: "x", Generation: a.Generation, Part: "payload",
		Status: events.ProgressErasing, Attempts: 1})
	b.advance(time.Minute)
	if f := resend(); len(f) != 0 {
		t.Errorf("flagged although progress was heard: %s", pretty(f))
	}
	b.advance(10 * time.Minute)
	f := resend()
	if len(f) != 1 || !f[0].Replace || f[0].Deletion != d.ID {
		t.Fatalf("flags after resend_after of silence: %s", pretty(f))
	}
	b.advance(10 * time.Minute)
	if again := resend(); len(again) != 1 || again[0].ID != f[0].ID {
		t.Errorf("a flag that is there is not set twice: %s", pretty(again))
	}
}

// runSentOnce ends the loop at once: it removes what is in the buffer on its way out.
func runSentOnce(t *testing.T, b *bench) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.RunSent(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestNextTryIsKeptByTheGraph(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.del("x")
	if err := b.Commands().Sent(t.Context(), []string{b.flags()[0].ID}); err != nil {
		t.Fatal(err)
	}
	runSentOnce(t, b)
	next := b.now().Add(3 * time.Minute)
	b.report(events.TypePartProgress, events.PartProgress{Deletion: d.ID, Asset: "x", Generation: a.Generation, Part: "payload",
		Status: events.ProgressBlocked, Reason: "bucket-missing", Attempts: 4, LastError: "no such bucket", NextTry: &next})
	got := b.deletion(d.ID)
	if got.Blocked == nil || got.Blocked.Part != "payload" || got.Blocked.Reason != "bucket-missing" {
		t.Errorf("blocked: %s", pretty(got))
	}
	if !slices.Contains(b.trail("x"), events.TypeDeletionBlocked) {
		t.Error("the trail does not tell that it is blocked")
	}
	if err := b.Resend(t.Context()); err != nil || len(b.flags()) != 0 {
		t.Fatalf("flags before next_try: %s, %v", pretty(b.flags()), err)
	}
	b.advance(3 * time.Minute)
	if err := b.Resend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := b.flags(); len(f) != 1 || f[0].Replace {
		t.Errorf("flags at next_try: %s", pretty(f))
	}
	b.erased(d, "x", a.Generation)
	if got := b.deletion(d.ID); got.Blocked != nil || got.Status != dependency.Deleted {
		t.Errorf("after it went: %s", pretty(got))
	}
}

// H-16.
func TestClaimsKeepReplicasApartAndExpire(t *testing.T) {
	b := newBench(t)
	other := benchOn(t, b.graph, policyText)
	other.clock = b.clock
	b.create("bare", "x")
	d := b.del("x")
	claim := func(b *bench) []saga.Flag {
		flags, err := b.Commands().Claim(t.Context(), 10, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return flags
	}
	if f := claim(other); len(f) != 0 {
		t.Errorf("another replica took a flag that the accepting one has: %d", len(f))
	}
	b.advance(11 * time.Second)
	other.advance(11 * time.Second)
	if f := claim(other); len(f) != 1 {
		t.Errorf("flags free after the claim of T1 expired: %d", len(f))
	}
	if f := claim(b); len(f) != 0 {
		t.Errorf("both replicas have the flag")
	}
	driven, err := b.Replay(b.ctx, dependency.Drive{Deletions: []string{d.ID}})
	if err != nil || driven.Driven != 1 || len(b.commands) != 2 {
		t.Errorf("replay: %+v, %v, %d commands; an operator's replay goes whoever has claimed the flag", driven, err, len(b.commands))
	}
}

func TestGateSaysYesOnlyToWhatIsBeingErased(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	b.create("slow", "later")
	d, scheduled := b.del("x"), b.del("later")
	live := b.create("item", "live")
	ask := func(q events.Question) bool {
		answers, err := b.Current(t.Context(), []events.Question{q})
		if err != nil || len(answers) != 1 {
			t.Fatalf("ask: %v, %v", answers, err)
		}
		return answers[0].Erase
	}
	cases := []struct {
		name string
		q    events.Question
		want bool
	}{
		{"as commanded", events.Question{Deletion: d.ID, Asset: "x", Generation: a.Generation}, true},
		{"its parts by name", events.Question{Deletion: d.ID, Asset: "x", Generation: a.Generation, Parts: map[string]string{"note": a.Generation}}, true},
		{"a part in another generation", events.Question{Deletion: d.ID, Asset: "x", Generation: a.Generation, Parts: map[string]string{"note": live.Generation}}, false},
		{"a part that is not of the kind", events.Question{Deletion: d.ID, Asset: "x", Generation: a.Generation, Parts: map[string]string{"zip": a.Generation}}, false},
		{"another generation", events.Question{Deletion: d.ID, Asset: "x", Generation: live.Generation}, false},
		{"another deletion", events.Question{Deletion: scheduled.ID, Asset: "x", Generation: a.Generation}, false},
		{"a live asset", events.Question{Deletion: d.ID, Asset: "live", Generation: live.Generation}, false},
		{"an unknown asset", events.Question{Deletion: d.ID, Asset: "nobody", Generation: a.Generation}, false},
		{"a scheduled deletion", events.Question{Deletion: scheduled.ID, Asset: "later", Generation: b.asset("later").Generation}, false},
	}
	for _, c := range cases {
		if got := ask(c.q); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	b.erased(d, "x", a.Generation)
	if ask(cases[0].q) {
		t.Error("a deletion that is done erases nothing any more")
	}
}
