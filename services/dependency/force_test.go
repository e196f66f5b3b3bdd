package dependency_test

import (
	"maps"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestAPartThatWasGivenUpIsNotTouchedAnyMore(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.del("x")
	b.sentAll()
	ask := func(parts ...string) bool {
		q := events.Question{Deletion: d.ID, Asset: "x", Generation: a.Generation, Parts: map[string]string{}}
		for _, p := range parts {
			q.Parts[p] = a.Generation
		}
		answers, err := b.Current(t.Context(), []events.Question{q})
		if err != nil {
			t.Fatal(err)
		}
		return answers[0].Erase
	}
	if !ask("note", "payload") {
		t.Fatal("both parts are to be erased, and the gate says no")
	}
	if got, err := b.Force(b.ctx, d.ID, dependency.Force{Part: "payload", Reason: "restored"}); err != nil || got.Status != dependency.Deleting {
		t.Fatalf("forced: %s, %v", pretty(got), err)
	}
	if ask("note", "payload") || ask("payload") || !ask("note") {
		t.Error("the gate's yes is for other parts than the one that is left")
	}

	b.advance(time.Second) // what is left gets a command of its own, without waiting for resend_after
	if err := b.Resend(t.Context()); err != nil {
		t.Fatal(err)
	}
	flags, err := b.Commands().Claim(t.Context(), 10, time.Minute)
	if err != nil || len(flags) != 1 || !flags[0].Replace {
		t.Fatalf("flags after the forcing: %+v, %v", flags, err)
	}
	_, command, err := events.DecodeCommand(flags[0].Message.Data)
	if want := map[string]string{"note": a.Generation}; err != nil || !maps.Equal(command.Parts, want) {
		t.Errorf("the command names %v, %v; want %v", command.Parts, err, want)
	}
	b.erasedParts(d, "x", "note")
	if got := b.deletion(d.ID); got.Status != dependency.Deleted {
		t.Errorf("the deletion is %s", pretty(got))
	}
}
