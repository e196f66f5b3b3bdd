package dependency_test

import (
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
)

// The broker counts the deliveries of one message; a flag that is set again makes another message.
func TestAttemptsGoOnCountingWhenACommandIsFlaggedAgain(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	d := b.del("x")
	b.sentAll()
	tried := 0
	for _, reported := range []int{4, 7, 7} { // the last of them by a worker that did not get so far
		next := b.now().Add(time.Minute)
		b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressRetry, Attempts: reported, LastError: "503", NextTry: &next})
		b.advance(time.Minute)
		if err := b.Resend(t.Context()); err != nil {
			t.Fatal(err)
		}
		flags, err := b.Commands().Claim(t.Context(), 10, time.Minute)
		if err != nil || len(flags) != 1 {
			t.Fatalf("claimed: %v, %v", flags, err)
		}
		_, command, err := events.DecodeCommand(flags[0].Message.Data)
		if tried = reported; err != nil || command.Tried != tried {
			t.Errorf("after %d tries the command says %d, %v", tried, command.Tried, err)
		}
		b.sentAll()
	}
	b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressErasing, Attempts: 2}) // an older command, late
	if x, err := b.Explain(b.ctx, d.ID); err != nil || len(x.Causes) != 2 || x.Causes[1].Attempts != tried {
		t.Errorf("explained: %s, %v; want %d attempts", pretty(x), err, tried)
	}
}
