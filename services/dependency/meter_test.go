package dependency_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestBacklogTellsWhatWaits(t *testing.T) {
	b := newBench(t)
	backlog := func(want dependency.Backlog) {
		t.Helper()
		got, err := b.Backlog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("backlog (-want +got):\n%s", diff)
		}
	}
	backlog(dependency.Backlog{})
	a := b.create("item", "x")
	b.create("slow", "later")
	d := b.del("x")
	b.del("later") // its flag is not due
	b.advance(10 * time.Minute)
	backlog(dependency.Backlog{Pending: 2, OldestPending: 10 * time.Minute, OldestIncomplete: 10 * time.Minute})
	b.report(events.TypePartProgress, events.PartProgress{Deletion: d.ID, Asset: "x", Generation: a.Generation, Part: "payload",
		Status: events.ProgressBlocked, Reason: "object-locked", Attempts: 1})
	b.advance(51 * time.Minute)
	backlog(dependency.Backlog{Pending: 2, OldestPending: 61 * time.Minute, OldestIncomplete: 61 * time.Minute, Stalled: 1,
		Blocked: map[string]int{"object-locked": 1}})
	b.erased(d, "x", a.Generation)
	backlog(dependency.Backlog{Pending: 1, OldestPending: 61 * time.Minute})
}

// meter remembers what it was told.
type meter struct{ told []string }

func (m *meter) Accepted(time.Duration) { m.told = append(m.told, "accepted") }
func (m *meter) Ended(result dependency.Status, took time.Duration) {
	m.told = append(m.told, fmt.Sprint(result, " after ", took))
}
func (m *meter) Erased(bytes int64)              { m.told = append(m.told, fmt.Sprint("erased ", bytes)) }
func (m *meter) Republished(cause string, n int) { m.told = append(m.told, fmt.Sprint(cause, " ", n)) }
func (m *meter) Ran(job dependency.Job, result dependency.JobResult) {
	m.told = append(m.told, fmt.Sprint(job, " ", result))
}
func (m *meter) Began(job dependency.Job, n int) {
	m.told = append(m.told, fmt.Sprint(job, " begins ", n))
}

func TestTheMeterIsToldOnceOfWhatWasCommitted(t *testing.T) {
	b, m := newBench(t), &meter{}
	var err error
	b.Service, err = dependency.New(dependency.Config{Graph: b.graph, Policy: parse(t, policyText), Now: b.now, Meter: m})
	if err != nil {
		t.Fatal(err)
	}
	a := b.create("item", "x")
	d := b.del("x")
	b.advance(time.Minute)
	if _, err := b.Replay(b.ctx, dependency.Drive{All: true}); err != nil {
		t.Fatal(err)
	}
	if err := b.Commands().Sent(t.Context(), []string{b.flags()[0].ID}); err != nil {
		t.Fatal(err)
	}
	runSentOnce(t, b)
	b.advance(time.Hour)
	if err := b.Resend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Retry(b.ctx, dependency.Drive{Deletions: []string{d.ID}}); err != nil { // flagged already
		t.Fatal(err)
	}
	for range 2 {
		b.erased(d, "x", a.Generation)
	}
	want := []string{"accepted", "replay 1", "resend 1", "erased 20", "deleted after 1h1m0s", "erased 0"}
	if diff := cmp.Diff(want, m.told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
