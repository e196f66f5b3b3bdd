package dependency_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const sweepsDaily = policyText + "sweep: {every: 24h}\n"

// What a sweep says at its end.
const hasSwept = "the sweep has run"

// sweeper is one more service on the bench's graph and stock.
func (b *bench) sweeper(g dependency.Graph, stores dependency.Stores, text string) (*dependency.Service, *journal) {
	b.t.Helper()
	j := &journal{}
	s, err := dependency.New(dependency.Config{Graph: g, Policy: parse(b.t, text), Now: b.now, Stores: stores, Logger: slog.New(slog.NewTextHandler(j, nil))})
	if err != nil {
		b.t.Fatal(err)
	}
	return s, j
}

// ghosts puts so many orphans on stock, each on a page of its own, and creates assets enough for the share brake.
func (b *bench) ghosts(s *stock, count int) {
	b.create("bare", "something")
	older := generationAt(time.Hour)
	for i := range count {
		s.pages["assets"] = append(s.pages["assets"], []events.Lodger{b.objects(fmt.Sprintf("ghost-%03d", i), older, 1)})
	}
	for i := range count {
		b.create("bare", fmt.Sprintf("other-%03d", i))
	}
}

// removed lists the assets for whose orphans deletions have begun, in order.
func (b *bench) removed() (ids []string) {
	for _, f := range b.flags() {
		ids = append(ids, f.Asset)
	}
	slices.Sort(ids)
	return ids
}

func ghostIDs(from, to int) (ids []string) {
	for i := from; i < to; i++ {
		ids = append(ids, fmt.Sprintf("ghost-%03d", i))
	}
	return ids
}

// pagesAsked notes the pages of payloads that were asked for, counted from 0.
func pagesAsked(s *stock) *[]int {
	var list []int
	s.asked = func(shelf events.Shelf) {
		if shelf.Prefix == "payload/" {
			list = append(list, len(shelf.After))
		}
	}
	return &list
}

// A sweep that stopped half way goes on where it was, once its replica is known to be gone, and not twice.
func TestASweepGoesOn(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 20)
	broken := errors.New("the graph is away")
	g := &interrupted{Graph: b.graph}
	first, _ := b.sweeper(g, s, policyText)
	if _, err := first.Sweep(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	left := 1 + 2*8 // the run is taken; each page removes, and is noted
	g.before = func() error {
		if left--; left < 0 {
			return broken
		}
		return nil
	}
	if err := first.Tidy(t.Context()); !errors.Is(err, broken) || !slices.Equal(b.removed(), ghostIDs(0, 8)) {
		t.Fatalf("want 8 removed and a failure, got %q, %v", b.removed(), err)
	}
	second, swept := b.sweeper(b.graph, s, policyText)
	if err := second.Tidy(t.Context()); err != nil || len(b.removed()) != 8 {
		t.Fatalf("before the claim has ended: %v, %d removed", err, len(b.removed()))
	}
	b.advance(4 * time.Minute)
	asked := pagesAsked(s)
	if err := second.Tidy(t.Context()); err != nil || !slices.Equal(b.removed(), ghostIDs(0, 20)) || swept.count(hasSwept) != 1 {
		t.Fatalf("after that: %v, %d removed, and the log says\n%s", err, len(b.removed()), swept.text.String())
	}
	if (*asked)[0] != 8 || len(*asked) != 12 {
		t.Errorf("pages that were asked for: %v, want from 8 on", *asked)
	}
	g.before = nil
	if err := first.Tidy(t.Context()); err != nil || len(b.flags()) != 20 || len(*asked) != 12 {
		t.Errorf("the first one again: %v, %d flags, pages %v", err, len(b.flags()), *asked)
	}
}

// The count of a sweep by the schedule goes on, too, and counts each thing once.
func TestTheCountOfASweepGoesOn(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 20)
	s.pages["assets"][11] = []events.Lodger{s.pages["assets"][10][0]} // a place that goes on in the next page
	first, _ := b.sweeper(b.graph, s, sweepsDaily)
	pages := 0
	s.asked = func(shelf events.Shelf) {
		if shelf.Prefix != "payload/" {
			return
		}
		b.advance(time.Minute) // pages take their time, so that the claim is renewed
		switch pages++; pages {
		case 12:
			s.fail = problem.New(problem.ListingFailed, "broken off")
		default:
			s.fail = nil
		}
	}
	if err := first.Tidy(t.Context()); !errors.Is(err, problem.ListingFailed) || len(b.flags()) != 0 {
		t.Fatalf("a listing that breaks off: %v, %d flags", err, len(b.flags()))
	}
	s.fail = nil
	asked := pagesAsked(s)
	b.advance(4 * time.Minute)
	second, swept := b.sweeper(b.graph, s, sweepsDaily)
	if err := second.Tidy(t.Context()); err != nil || len(b.flags()) != 19 {
		t.Fatalf("afterwards: %v, %d flags", err, len(b.flags()))
	}
	if swept.count("candidates=19 removed=19") != 1 || (*asked)[0] == 0 {
		t.Errorf("from page %d on; the log says\n%s", (*asked)[0], swept.text.String())
	}
}

// H-55: a replica that was frozen and lost its sweep removes nothing more, though the sweep still runs elsewhere.
func TestASweepThatWasTakenOverEnds(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 20)
	g, h := &interrupted{Graph: b.graph}, &interrupted{Graph: b.graph}
	slow, _ := b.sweeper(g, s, policyText)
	fast, _ := b.sweeper(h, s, policyText)
	if _, err := slow.Sweep(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	left, transactions := 1+2*5, 0
	stuck := errors.New("stuck")
	h.before = func() error {
		if left--; left < 0 {
			return stuck
		}
		return nil
	}
	g.before = func() error {
		if transactions++; transactions == 4 { // the second page is read, and about to be removed
			b.advance(time.Hour)
			if err := fast.Tidy(t.Context()); !errors.Is(err, stuck) {
				t.Errorf("the fast one: %v", err)
			}
		}
		return nil
	}
	if err := slow.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if transactions != 4 || !slices.Equal(b.removed(), ghostIDs(0, 6)) {
		t.Errorf("the slow one has made %d transactions, want 4; removed are %q", transactions, b.removed())
	}
}

func TestTheSweepRunsByItsScheduleOnceForAllReplicas(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 1)
	surveyed := make(chan struct{}, 100)
	s.asked = func(shelf events.Shelf) {
		if shelf.Prefix == "payload/" {
			surveyed <- struct{}{}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	logs := []*journal{}
	for range 3 {
		replica, log := b.sweeper(b.graph, s, sweepsDaily)
		logs = append(logs, log)
		running.Go(func() {
			if err := replica.RunSweep(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, func() bool { return logs[0].count(hasSwept)+logs[1].count(hasSwept)+logs[2].count(hasSwept) > 0 })
	cancel()
	running.Wait()
	if n := len(surveyed); n != 2 || len(b.flags()) != 1 { // to count, and to remove
		t.Errorf("%d surveys, %d flags", n, len(b.flags()))
	}
	for i, want := range []int{0, 1} { // a day after, and not before
		b.advance([]time.Duration{24*time.Hour - time.Minute, time.Minute}[i])
		replica, log := b.sweeper(b.graph, s, sweepsDaily)
		if err := replica.Tidy(t.Context()); err != nil || log.count(hasSwept) != want {
			t.Errorf("look %d: %v, the log says\n%s", i, err, log.text.String())
		}
	}
}

func TestASweepOfAnotherPolicyIsDropped(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 3)
	if found, err := b.Sweep(b.ctx, true); err != nil || !found.Applied {
		t.Fatal(err)
	}
	changed, log := b.sweeper(b.graph, s, policyText+"stalled_after: 2h\n")
	for _, after := range []time.Duration{0, 4 * time.Minute, time.Minute} {
		b.advance(after)
		if err := changed.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := log.count("the policy has changed under a sweep"); n != 1 || len(b.flags()) != 0 {
		t.Errorf("%d flags, the log says\n%s", len(b.flags()), log.text.String())
	}
}

// H-77: a dry run writes nothing anywhere, not even how far it is.
func TestADryRunOfASweepWritesNothing(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 3)
	g := &interrupted{Graph: b.graph, before: func() error { return errors.New("a dry run writes") }}
	dry, _ := b.sweeper(g, s, policyText)
	found, err := dry.Sweep(b.ctx, false)
	if err != nil || found.Total != 3 {
		t.Fatalf("%d found, %v", found.Total, err)
	}
	later, log := b.sweeper(b.graph, s, policyText)
	if err := later.Tidy(t.Context()); err != nil || log.count(hasSwept) != 0 || len(b.flags()) != 0 {
		t.Errorf("afterwards: %v, %d flags, the log says\n%s", err, len(b.flags()), log.text.String())
	}
}

// What comes and goes while a sweep runs is younger than its beginning, and no sign of a restored backup.
func TestASweepIsNotDeceivedByWhatIsCreatedAndDeletedMeanwhile(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 1)
	s.asked = func(shelf events.Shelf) {
		if shelf.Prefix != "payload/" || len(s.pages["assets"]) > 1 {
			return
		}
		short := b.create("item", "short-lived")
		b.erased(b.del("short-lived"), "short-lived", short.Generation)
		late := b.objects("short-lived", short.Generation, 1) // an upload that landed after it was gone
		late.Written = b.now()
		s.pages["assets"] = append(s.pages["assets"], []events.Lodger{late})
	}
	found := b.sweep(true)
	if !slices.Equal(b.removed(), ghostIDs(0, 1)) {
		t.Errorf("found %v, removed %q", told(found), b.removed())
	}
}

// H-49: a graph that knows nothing of what lies in the stores is another's.
func TestSweepRefusesAForeignGraph(t *testing.T) {
	b, s := sweeping(t)
	b.ghosts(s, 100)
	for i := range 200 {
		b.create("bare", fmt.Sprint("more-", i))
	}
	for _, apply := range []bool{false, true} {
		if _, err := b.Sweep(b.ctx, apply); !errors.Is(err, problem.EmptyGraph) {
			t.Errorf("apply %t: %v", apply, err)
		}
	}
	daily, log := b.sweeper(b.graph, s, sweepsDaily)
	for range 2 {
		if err := daily.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.flags()) != 0 || log.count("the sweep removes nothing") != 1 {
		t.Errorf("%d flags, the log says\n%s", len(b.flags()), log.text.String())
	}
	known := b.create("item", "known") // one that it knows shows that it is the right one
	s.pages["assets"] = append(s.pages["assets"], []events.Lodger{b.objects("known", known.Generation, 1)})
	s.there["known/note"] = true
	if found := b.sweep(true); found.Total != 100 || len(b.flags()) != 100 {
		t.Errorf("%d found, %d flags", found.Total, len(b.flags()))
	}
}

func TestAnEmptyListingMakesNoOrphans(t *testing.T) {
	b, s := sweeping(t)
	b.create("item", "a")
	b.create("bare", "b")
	found := b.sweep(true)
	if found.Total != 1 || found.Candidates[0].Asset != "a" || found.Candidates[0].Place != "" || len(b.flags()) != 0 {
		t.Errorf("found %v, %d flags", told(found), len(b.flags()))
	}
	b.stays("a", "b")
	s.pages["assets"] = [][]events.Lodger{{}, {}}
	if again := b.sweep(true); again.Total != 1 || len(b.flags()) != 0 {
		t.Errorf("empty pages: found %v", told(again))
	}
}
