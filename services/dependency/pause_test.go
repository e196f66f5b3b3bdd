package dependency_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestWhilePausedNothingIsPublishedOrErased(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	y := b.create("item", "y")
	running := b.del("y")
	if err := b.Pause(b.ctx, "a backup is restored"); err != nil {
		t.Fatal(err)
	}
	sent, since := len(b.commands), b.now()
	b.advance(time.Second)
	d := b.del("x")
	if d.Status != dependency.Deleting || b.asset("x").Status != dependency.Deleting {
		t.Errorf("a deletion that is accepted while paused: %s", pretty(d))
	}
	quiet := func(b *bench, when string) {
		t.Helper()
		if n := b.claim(); n != 0 {
			t.Errorf("%s: %d flags claimed", when, n)
		}
		if driven, err := b.Replay(b.ctx, dependency.Drive{All: true}); err != nil || driven.Driven != 0 {
			t.Errorf("%s: a replay drove %d, %v", when, driven.Driven, err)
		}
		page, err := b.Pending(b.ctx, "")
		if err != nil || len(page.Items) != 2 || len(b.flags()) != 2 {
			t.Errorf("%s: pending %s, %v", when, pretty(page), err)
		}
		answers, err := b.Current(t.Context(), []events.Question{{Deletion: running.ID, Asset: "y", Generation: y.Generation}})
		if err != nil || answers[0].Erase || !answers[0].Paused {
			t.Errorf("%s: the gate says %s, %v", when, pretty(answers), err)
		}
	}
	quiet(b, "paused")
	if len(b.commands) != sent {
		t.Errorf("%d commands were handed over while paused", len(b.commands)-sent)
	}
	b.advance(time.Second)
	other := benchOn(t, b.graph, policyText) // another process, or the same after a restart
	other.clock = b.now()
	quiet(other, "paused, in a new process")
	x, err := other.Explain(other.ctx, d.ID)
	if err != nil || !x.Paused || x.Since == nil || !x.Since.Equal(since) {
		t.Errorf("explain while paused: %s, %v", pretty(x), err)
	}
	if err := other.PauseAs(t.Context(), "somebody else", "no reason"); err != nil { // the first pause stays
		t.Fatal(err)
	}
	if x, _ := b.Explain(b.ctx, d.ID); x.WaitsFor != "physical deletion is paused by olga (a backup is restored); nothing is published or erased until it is resumed" {
		t.Errorf("explain: %s", x.WaitsFor)
	}
	want := &dependency.Pause{By: "olga", At: since, Reason: "a backup is restored"}
	if o, err := other.Overview(other.ctx); err != nil || !o.Paused || !cmp.Equal(o.Pause, want) {
		t.Errorf("the overview says %s, %v", pretty(o.Pause), err)
	}
	if err := other.Resume(other.ctx); err != nil {
		t.Fatal(err)
	}
	if o, err := other.Overview(other.ctx); err != nil || o.Paused || o.Pause != nil {
		t.Errorf("the overview after the resuming: %s, %v", pretty(o.Pause), err)
	}
	if n := b.claim(); n != 2 {
		t.Errorf("flags claimed after the resuming: %d, want 2", n)
	}
}

func TestResumeNudgesTheRelay(t *testing.T) {
	nudged := 0
	b := newBench(t)
	s, err := dependency.New(dependency.Config{Graph: b.graph, Policy: parse(t, policyText), Nudge: func() { nudged++ }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Resume(b.ctx); err != nil || nudged != 1 { // a resume without a pause is fine
		t.Errorf("%d nudges, %v", nudged, err)
	}
	refused(t, s.Pause(b.as("acme"), ""), problem.Forbidden)
	refused(t, s.Resume(b.as("acme")), problem.Forbidden)
}
