package dependency_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// stands compares how a job stands with what is wanted.
func (b *bench) stands(when string, job dependency.Job, want dependency.JobView) {
	b.t.Helper()
	jobs, err := b.Jobs(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if diff := cmp.Diff(want, jobs[job]); diff != "" {
		b.t.Errorf("%s, %s (-want +got):\n%s", when, job, diff)
	}
}

// H-73: a job that runs on time and lets nothing go does not look healthy: what waits grows, it gets older, and so does the
// last success. What cannot go is counted apart.
func TestJobsTellThatRetentionIsBehind(t *testing.T) {
	b := newRetention(t, scans(""))
	b.results("r", 3) // a day in the past
	m := &meter{}
	daily, err := dependency.New(dependency.Config{Graph: b.graph, Policy: parse(t, scans("")), Now: b.now, Meter: m, Jitter: func(time.Duration) time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	run := func(after time.Duration) {
		t.Helper()
		b.advance(after)
		if err := daily.Retain(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	b.stands("before the first run", dependency.JobRetention, dependency.JobView{})
	run(0)
	b.stands("not confirmed", dependency.JobRetention, dependency.JobView{Candidates: 3, Oldest: day})
	b.putWith("record", "older", map[string]any{"deleted_at": b.now().Add(-100 * day).Format(time.RFC3339)})
	if err := b.Hold(b.ctx, "r-00001", "case 7"); err != nil {
		t.Fatal(err)
	}
	run(2 * day)
	b.stands("not confirmed yet", dependency.JobRetention, dependency.JobView{Candidates: 3, Left: 1, Oldest: 12 * day, SinceSuccess: 2 * day})
	if _, err := daily.Retention(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	b.stands("asked for", dependency.JobRetention, dependency.JobView{Candidates: 3, Left: 1, Oldest: 12 * day, SinceSuccess: 2 * day})
	run(time.Minute)
	b.stands("done", dependency.JobRetention, dependency.JobView{Left: 1})
	run(2 * day)
	b.advance(time.Hour)
	b.stands("done again", dependency.JobRetention, dependency.JobView{Left: 1, SinceSuccess: time.Hour})
	if diff := cmp.Diff([]string{"retention looked", "retention looked", "retention begins 1", "retention begins 2", "retention done", "retention done"}, slices.DeleteFunc(m.told, func(s string) bool { return s == "accepted" })); diff != "" {
		t.Errorf("the meter was told:\n%s", diff)
	}
}

// H-73: a sweep that finds and does not remove is told, too, and one that stopped on its way.
func TestJobsTellHowTheSweepStands(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 3)
	m := &meter{}
	daily, err := dependency.New(dependency.Config{Graph: b.graph, Policy: parse(t, sweepsDaily), Now: b.now, Meter: m, Stores: s})
	if err != nil {
		t.Fatal(err)
	}
	b.sweep(false)
	b.stands("a dry run", dependency.JobSweep, dependency.JobView{})
	s.fail = problem.New(problem.ListingFailed, "broken off")
	for range 2 {
		if err := daily.Tidy(t.Context()); !errors.Is(err, problem.ListingFailed) {
			t.Fatal(err)
		}
		b.advance(time.Hour)
	}
	b.stands("a listing that fails", dependency.JobSweep, dependency.JobView{SinceSuccess: 2 * time.Hour})
	s.fail = nil
	if err := daily.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.advance(time.Minute)
	b.stands("afterwards", dependency.JobSweep, dependency.JobView{SinceSuccess: time.Minute})
	if _, err := b.Sweep(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	b.stands("asked for", dependency.JobSweep, dependency.JobView{SinceSuccess: time.Minute})
	if diff := cmp.Diff([]string{"sweep failed", "sweep failed", "sweep begins 1", "sweep begins 1", "sweep begins 1", "sweep done"}, m.told); diff != "" {
		t.Errorf("the meter was told:\n%s", diff)
	}
}
