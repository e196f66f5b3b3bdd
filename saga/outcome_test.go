package saga_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// steady is a backoff without chance, at noon.
var steady = saga.Backoff{Now: func() time.Time { return noon }, Random: func() float64 { return 0 }}

func after(d time.Duration) *time.Time { t := noon.Add(d); return &t }

func TestEveryResultOfAHandlerHasOneOutcome(t *testing.T) {
	fault := errors.New("connection refused")
	locked := &saga.Parked{Part: "payload", Reason: "object-locked", Until: after(24 * time.Hour), Err: fault}
	soon := &saga.Parked{Reason: "paused", NextTry: after(time.Second)}
	ends := &saga.Parked{Reason: "object-locked", Until: after(10 * time.Minute)}
	over := &saga.Parked{Reason: "object-locked", Until: after(-time.Minute)}
	plain := &saga.Parked{Reason: "bucket-missing"}
	newer := fmt.Errorf("decode: %w", events.ErrNewer)
	unreadable := fmt.Errorf("decode: %w", events.ErrUnreadable)
	for name, c := range map[string]struct {
		err     error
		attempt int
		want    saga.Outcome
	}{
		"success":                            {nil, 1, saga.Outcome{Kind: saga.Done, Attempt: 1}},
		"success after many failures":        {nil, 99, saga.Outcome{Kind: saga.Done, Attempt: 99}},
		"the first failure":                  {fault, 1, saga.Outcome{Kind: saga.Later, Attempt: 1, Err: fault, Delay: 1250 * time.Millisecond}},
		"the second":                         {fault, 2, saga.Outcome{Kind: saga.Later, Attempt: 2, Err: fault, Delay: 2500 * time.Millisecond}},
		"the first that waits the full time": {fault, 7, saga.Outcome{Kind: saga.Later, Attempt: 7, Err: fault, Delay: time.Minute}},
		"the one after it":                   {fault, 8, saga.Outcome{Kind: saga.Park, Attempt: 8, Err: fault, NextTry: noon.Add(5 * time.Minute)}},
		"unreadable":                         {unreadable, 1, saga.Outcome{Kind: saga.Never, Attempt: 1, Err: unreadable}},
		"unreadable at a late attempt":       {unreadable, 50, saga.Outcome{Kind: saga.Never, Attempt: 50, Err: unreadable}},
		"of a newer version":                 {newer, 1, saga.Outcome{Kind: saga.Leave, Attempt: 1, Err: newer, Delay: 1250 * time.Millisecond}},
		"of a newer version, for hours":      {newer, 1499, saga.Outcome{Kind: saga.Leave, Attempt: 1499, Err: newer, Delay: time.Minute}},
		"of a newer version, for a day":      {newer, 1500, saga.Outcome{Kind: saga.Never, Attempt: 1500, Err: newer}},
		"parked until a known time": {locked, 1, saga.Outcome{Kind: saga.Park, Attempt: 1, Err: locked, Blocked: true, Part: "payload", Reason: "object-locked",
			Until: after(24 * time.Hour), NextTry: noon.Add(time.Hour)}},
		"parked until soon": {ends, 1, saga.Outcome{Kind: saga.Park, Attempt: 1, Err: ends, Blocked: true, Reason: "object-locked", Until: after(10 * time.Minute),
			NextTry: noon.Add(10 * time.Minute)}},
		"parked until a time that is over": {over, 1, saga.Outcome{Kind: saga.Park, Attempt: 1, Err: over, Blocked: true, Reason: "object-locked",
			Until: after(-time.Minute), NextTry: noon.Add(5 * time.Minute)}},
		"parked with a time of its own": {soon, 3, saga.Outcome{Kind: saga.Park, Attempt: 3, Err: soon, Blocked: true, Reason: "paused", NextTry: noon.Add(time.Second)}},
		"parked without any":            {plain, 1, saga.Outcome{Kind: saga.Park, Attempt: 1, Err: plain, Blocked: true, Reason: "bucket-missing", NextTry: noon.Add(5 * time.Minute)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := saga.Decide(c.err, c.attempt, steady)
			if diff := cmp.Diff(c.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParkedTellsItsReasonAndKeepsItsFault(t *testing.T) {
	fault := errors.New("AccessDenied")
	p := &saga.Parked{Reason: "object-locked", Err: fault}
	if p.Error() != "parked: object-locked: AccessDenied" || !errors.Is(p, fault) {
		t.Errorf("got %q", p)
	}
	if got := (&saga.Parked{Reason: "paused"}).Error(); got != "parked: paused" {
		t.Errorf("got %q", got)
	}
}

func TestDelaysGrowFromASecondToAMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attempt := rapid.IntRange(1, 1_000_000).Draw(t, "attempt")
		chance := rapid.Float64Range(0, 0.999999).Draw(t, "chance")
		b := saga.Backoff{Random: func() float64 { return chance }}
		delay := b.Delay(attempt)
		if delay < time.Second || delay > time.Minute {
			t.Fatalf("Delay(%d) = %v", attempt, delay)
		}
		if full := steady.Delay(attempt); delay > full || delay < full*8/10 {
			t.Fatalf("Delay(%d) = %v is not within a fifth below %v", attempt, delay, full)
		}
		if !b.Exhausted(attempt) && b.Delay(attempt+1) < delay {
			t.Fatalf("Delay(%d) = %v, and the next is shorter", attempt, delay)
		}
		if got := b.NextTry(nil); time.Until(got) > 6*time.Minute+time.Second {
			t.Fatalf("NextTry: %v is more than a fifth beyond ParkFor", got)
		}
	})
}
