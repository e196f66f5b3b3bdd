package dependency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// interrupted is a graph that calls before every transaction that writes.
type interrupted struct {
	dependency.Graph
	before func() error
}

func (g *interrupted) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	if g.before != nil {
		if err := g.before(); err != nil {
			return err
		}
	}
	return g.Graph.Update(ctx, fn)
}

// journal is a log that can be counted.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) count(line string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), line)
}

// What a run says at its end.
const (
	hasRun    = "retention has run"
	onlyLooks = "retention only looks"
)

// replica is one more service on the bench's graph, with the bench's clock.
func (b *bench) replica(g dependency.Graph, text string) (*dependency.Service, *journal) {
	b.t.Helper()
	return b.replicaPutOff(g, text, func(time.Duration) time.Duration { return 0 })
}

// replicaPutOff is one whose runs of retention begin later.
func (b *bench) replicaPutOff(g dependency.Graph, text string, jitter func(time.Duration) time.Duration) (*dependency.Service, *journal) {
	b.t.Helper()
	j := &journal{}
	s, err := dependency.New(dependency.Config{Graph: g, Policy: parse(b.t, text), Now: b.now, Logger: slog.New(slog.NewTextHandler(j, nil)), Jitter: jitter})
	if err != nil {
		b.t.Fatal(err)
	}
	return s, j
}

// results creates so many results that have expired.
func (b *bench) results(prefix string, count int) {
	b.t.Helper()
	var lines strings.Builder
	for i := range count {
		fmt.Fprintf(&lines, `{"id": "%s-%05d", "kind": "result", "attributes": {"state": "done"}}`+"\n", prefix, i)
	}
	got, err := b.ImportAssets(b.ctx, strings.NewReader(lines.String()))
	if err != nil || got.Created != count {
		b.t.Fatalf("import: %+v, %v", got, err)
	}
	b.advance(8 * day)
}

// live counts the live assets of a kind.
func (b *bench) live(kind string) (count int) {
	b.t.Helper()
	for cursor := ""; ; {
		p, err := b.Assets(b.ctx, dependency.AssetQuery{Kind: kind, Status: dependency.Live, Cursor: cursor, Limit: 1000})
		if err != nil {
			b.t.Fatal(err)
		}
		count += len(p.Items)
		if cursor = p.NextCursor; cursor == "" {
			return count
		}
	}
}

func TestTheFirstRealRunOfAChangedPolicyIsByHand(t *testing.T) {
	b := newRetention(t, scans(""))
	b.results("r", 3)
	s, j := b.replica(b.graph, scans(""))
	look := func(s *dependency.Service, atStart bool) {
		t.Helper()
		if err := s.Retain(t.Context(), atStart); err != nil {
			t.Fatal(err)
		}
	}
	look(s, true)
	b.advance(25 * time.Hour)
	look(s, false)
	if j.count(onlyLooks) != 2 || b.live("result") != 3 {
		t.Fatalf("before the run by hand: %d live, and the log says\n%s", b.live("result"), j.text.String())
	}
	b.expire()
	if b.live("result") != 0 {
		t.Fatal("the run by hand did not run")
	}
	b.results("s", 3) // eight days on, and not looked at since
	look(s, false)
	if j.count(hasRun) != 1 || b.live("result") != 0 {
		t.Fatalf("after the run by hand: %d live, and the log says\n%s", b.live("result"), j.text.String())
	}
	changed, j := b.replica(b.graph, scans("stalled_after: 2h"))
	b.results("t", 3)
	look(changed, true)
	if j.count(onlyLooks) != 1 || b.live("result") != 3 {
		t.Errorf("after a change of the policy: %d live, and the log says\n%s", b.live("result"), j.text.String())
	}
	willing, j := b.replica(b.graph, scans("retention: {first_run: apply}"))
	b.advance(time.Hour)
	look(willing, true)
	if j.count(hasRun) != 1 || b.live("result") != 0 {
		t.Errorf("with first_run apply: %d live, and the log says\n%s", b.live("result"), j.text.String())
	}
}

func TestRetentionSchedule(t *testing.T) {
	const willing = "retention: {first_run: apply, every: 24h}"
	b := newRetention(t, scans(willing))
	b.results("r", 1)
	one, ran := b.replica(b.graph, scans(willing))
	two, ranToo := b.replica(b.graph, scans(willing))
	byHand, never := b.replica(b.graph, scans("retention: {first_run: apply, every: 0}"))
	expired := 1
	for _, step := range []struct {
		after   time.Duration
		atStart bool
		want    int // runs of both replicas so far
	}{{0, true, 1}, {time.Minute, true, 1}, {22 * time.Hour, false, 1}, {2 * time.Hour, false, 2}, {time.Minute, false, 2}, {time.Hour, true, 3}, {23*time.Hour + 59*time.Minute, false, 3}, {time.Minute, false, 4}} {
		b.advance(step.after)
		b.putWith("record", fmt.Sprintf("r-%d", expired), map[string]any{"deleted_at": "2020-01-01T00:00:00Z"}) // so that a run has something to say
		expired++
		for _, s := range []*dependency.Service{one, two, byHand} {
			if err := s.Retain(t.Context(), step.atStart); err != nil {
				t.Fatal(err)
			}
		}
		if got := ran.count(hasRun) + ranToo.count(hasRun); got != step.want {
			t.Errorf("%v later, at a start %t: want %d runs, got %d", step.after, step.atStart, step.want, got)
		}
	}
	if never.count(hasRun) != 0 {
		t.Error("a policy of runs by hand alone has run by itself")
	}
	b.advance(25 * time.Hour)
	if err := b.Pause(b.ctx, ""); err != nil {
		t.Fatal(err)
	}
	if err := one.Retain(t.Context(), true); err != nil || ran.count(hasRun)+ranToo.count(hasRun) != 4 {
		t.Errorf("while paused: %v, the log says\n%s", err, ran.text.String())
	}
}

// Replicas do not all come at the same moment: each puts the runs of its schedule off by a time of its own.
func TestRetentionIsPutOffByAJitter(t *testing.T) {
	const willing = "retention: {first_run: apply, every: 24h}"
	b := newRetention(t, scans(willing))
	var below time.Duration
	s, ran := b.replicaPutOff(b.graph, scans(willing), func(d time.Duration) time.Duration { below = d; return 7 * time.Minute })
	if below != 10*time.Minute {
		t.Errorf("a daily run is put off by less than %v, want 10 minutes", below)
	}
	for _, step := range []struct {
		after   time.Duration
		atStart bool
		want    int
	}{{0, true, 1}, {24 * time.Hour, false, 1}, {7*time.Minute - time.Second, false, 1}, {time.Second, false, 2}} {
		b.advance(step.after)
		b.putWith("record", fmt.Sprintf("r-%d-%v", step.want, step.after), map[string]any{"deleted_at": "2020-01-01T00:00:00Z"}) // so that a run has something to say
		if err := s.Retain(t.Context(), step.atStart); err != nil {
			t.Fatal(err)
		}
		if got := ran.count(hasRun); got != step.want {
			t.Errorf("%v later: want %d runs, got %d", step.after, step.want, got)
		}
	}
}

// A run that stopped half way goes on where it was, once its replica is known to be gone, and not twice.
func TestRetentionGoesOn(t *testing.T) {
	b := newRetention(t, scans(""))
	b.results("r", 600)
	broken := errors.New("the graph is away")
	g := &interrupted{Graph: b.graph}
	first, _ := b.replica(g, scans(""))
	if _, err := first.Retention(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	left := 8
	g.before = func() error {
		if left--; left < 0 {
			return broken
		}
		return nil
	}
	if err := first.Retain(t.Context(), false); !errors.Is(err, broken) {
		t.Fatalf("want a failure, got %v", err)
	}
	half := b.live("result")
	if half == 0 || half == 600 {
		t.Fatalf("%d of 600 are live half way", half)
	}
	second, ran := b.replica(b.graph, scans(""))
	if err := second.Retain(t.Context(), true); err != nil || b.live("result") != half {
		t.Fatalf("before the claim has ended: %v, %d live", err, b.live("result"))
	}
	b.putWith("record", "before the mark", map[string]any{"deleted_at": "2020-01-01T00:00:00Z"})
	b.advance(2 * time.Minute)
	if err := second.Retain(t.Context(), true); err != nil || b.live("result") != 0 || ran.count(hasRun) != 1 {
		t.Fatalf("after that: %v, %d live, and the log says\n%s", err, b.live("result"), ran.text.String())
	}
	b.stays("before the mark") // the next run's
	g.before = nil
	if err := first.Retain(t.Context(), false); err != nil || len(b.flags()) != 600 {
		t.Errorf("the first one again: %v, %d flags", err, len(b.flags()))
	}
}

// H-55: a replica that lost its run to another one does not go on with it.
func TestARunThatWasTakenOverEnds(t *testing.T) {
	b := newRetention(t, scans(""))
	b.results("r", 600)
	g := &interrupted{Graph: b.graph}
	slow, ran := b.replica(g, scans(""))
	fast, ranToo := b.replica(b.graph, scans(""))
	if _, err := slow.Retention(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	transactions := 0
	g.before = func() error {
		if transactions++; transactions == 3 {
			b.advance(time.Hour) // it was frozen
			return fast.Retain(t.Context(), false)
		}
		return nil
	}
	if err := slow.Retain(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if ran.count(hasRun) != 0 || ranToo.count(hasRun) != 1 || len(b.flags()) != 600 {
		t.Errorf("%d flags of 600, and the logs say\n%s\n%s", len(b.flags()), ran.text.String(), ranToo.text.String())
	}
	if transactions > 10 {
		t.Errorf("the slow one went on for %d transactions", transactions)
	}
}

// H-55: nor does it when the other one has not come to the end yet.
func TestARunThatGoesOnElsewhereEndsHere(t *testing.T) {
	b := newRetention(t, scans(""))
	b.results("r", 900)
	g, h := &interrupted{Graph: b.graph}, &interrupted{Graph: b.graph}
	slow, ran := b.replica(g, scans(""))
	fast, _ := b.replica(h, scans(""))
	if _, err := slow.Retention(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	stuck := errors.New("stuck")
	left, transactions := 4, 0
	h.before = func() error {
		if left--; left < 0 {
			return stuck
		}
		return nil
	}
	g.before = func() error {
		if transactions++; transactions == 3 {
			b.advance(time.Hour) // it was frozen
			if err := fast.Retain(t.Context(), false); !errors.Is(err, stuck) {
				t.Errorf("the fast one: %v", err)
			}
		}
		return nil
	}
	if err := slow.Retain(t.Context(), false); err != nil || ran.count(hasRun) != 0 || b.live("result") == 0 {
		t.Errorf("%v, %d live, and the log says\n%s", err, b.live("result"), ran.text.String())
	}
	if transactions > 10 {
		t.Errorf("the slow one went on for %d transactions", transactions)
	}
}

// What somebody needs or holds by the time it would go stays, wholly or in its part (H-47).
func TestWhatIsNeededOrHeldUnderARunStays(t *testing.T) {
	b := newRetention(t, partsExpire)
	done := map[string]any{"state": "done"}
	b.putWith("check", "needed", nil)
	b.putWith("check", "held", nil)
	b.advance(364 * day)
	b.putWith("check", "part", done)
	b.putWith("check", "user", nil)
	b.advance(7 * day)
	g := &interrupted{Graph: b.graph}
	s, ran := b.replica(g, partsExpire)
	if found, err := s.Retention(b.ctx, true); err != nil || found.Total != 3 {
		t.Fatalf("%v, %v", ids(found), err)
	}
	transactions := 0
	g.before = func() error {
		if transactions++; transactions == 2 { // all is read, and about to go
			for _, id := range []string{"held", "part"} {
				if err := b.Hold(b.ctx, id, "case 7"); err != nil {
					return err
				}
			}
			return b.Link(b.ctx, "user", "NEEDS", "needed")
		}
		return nil
	}
	if err := s.Retain(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	b.stays("needed", "held", "part")
	if p := b.asset("part").Parts["raw"]; p.Status != dependency.PartPresent || len(b.flags()) != 0 {
		t.Errorf("the part: %s, %d flags", pretty(p), len(b.flags()))
	}
	if ran.count("accepted=0 changed_meanwhile=0 held=2 with_dependants=1") != 1 {
		t.Errorf("the log says\n%s", ran.text.String())
	}
}

// H-54: a run sees all that had expired at its beginning, whatever comes and goes meanwhile, and comes to its end.
func TestARunSeesAll(t *testing.T) {
	b := newRetention(t, scans(""))
	b.results("r", 1050)
	if err := b.Hold(b.ctx, "r-00500", "case 7"); err != nil {
		t.Fatal(err)
	}
	g := &interrupted{Graph: b.graph}
	s, ran := b.replica(g, scans(""))
	if _, err := s.Retention(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	came := 0
	g.before = func() error {
		if came < 30 {
			came++
			b.putWith("record", fmt.Sprintf("late-%d", came), map[string]any{"deleted_at": "2020-01-01T00:00:00Z"})
		}
		return nil
	}
	if err := s.Retain(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got := b.live("result"); got != 1 || ran.count(hasRun) != 1 || ran.count("held=1") != 1 {
		t.Errorf("%d are live, and the log says\n%s", got, ran.text.String())
	}
	b.expire()
	if got := b.live("record"); came == 0 || got != 0 {
		t.Errorf("%d of %d that came meanwhile are live after the next run", got, came)
	}
}

// H-47: what is made anew between the look and the deletion stays, and so does what lost the state that let it go.
func TestWhatChangesUnderARunStays(t *testing.T) {
	b := newRetention(t, scans(""))
	b.putWith("report", "regenerated", nil)
	b.putWith("report", "old", nil)
	b.results("r", 2)
	b.advance(30 * day)
	g := &interrupted{Graph: b.graph}
	s, ran := b.replica(g, scans(""))
	if _, err := s.Retention(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	transactions := 0
	long := map[string]any{"deleted_at": "2020-01-01T00:00:00Z"}
	b.putWith("record", "again", long)
	g.before = func() error {
		switch transactions++; transactions { // the first one takes the run, each second one of the others deletes
		case 2:
			b.deleted("again")
			b.putWith("record", "again", long) // in a new generation, with the clock of the old one
		case 4:
			b.putWith("report", "regenerated", map[string]any{"pages": 3.0})
		case 6:
			b.putWith("result", "r-00000", map[string]any{"state": "running"})
			if err := b.Hold(b.ctx, "r-00001", "case 7"); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.Retain(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	b.stays("again", "regenerated", "r-00000", "r-00001")
	b.goes("old")
	if ran.count("accepted=1 changed_meanwhile=3 held=1") != 1 {
		t.Errorf("the log says\n%s", ran.text.String())
	}
}

func TestRetentionEndsWithItsContext(t *testing.T) {
	b := newRetention(t, scans("retention: {first_run: apply, every: 10ms}"))
	b.results("r", 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.RunRetention(ctx) }()
	eventually(t, func() bool { return b.live("result") == 0 })
	b.putWith("record", "by hand", map[string]any{"deleted_at": "2020-01-01T00:00:00Z"}) // the clock stands, so no run is due
	if _, err := b.Retention(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return b.live("record") == 0 })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// eventually polls until it is so.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("it never came to be so")
		}
	}
}
