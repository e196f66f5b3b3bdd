package dependency_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// counts is an overview without what depends on the machine's clock.
func (b *bench) counts(ctx context.Context) dependency.Overview {
	b.t.Helper()
	o, err := b.Overview(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	o.Activity, o.CountedTo = nil, 0
	return o
}

// H-64: counters tell of what is there, and of nothing that is gone.
func TestOverviewCountsByStatus(t *testing.T) {
	b := newBench(t)
	b.create("slow", "scheduled")
	b.del("scheduled")
	b.create("slow", "cancelled")
	if _, err := b.Cancel(b.ctx, b.del("cancelled").ID); err != nil {
		t.Fatal(err)
	}
	a := b.create("item", "completed")
	b.erased(b.del("completed"), "completed", a.Generation)
	b.create("item", "late")
	b.del("late")
	b.advance(2 * time.Hour)
	b.create("item", "blocked")
	blocked := b.del("blocked")
	b.progress(blocked, events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "bucket-missing", Attempts: 1, LastError: "no bucket"})
	got := b.counts(b.ctx)
	if got.Flags == nil || got.Flags.Count < 2 || got.Flags.Oldest == nil {
		t.Errorf("flags: %+v", got.Flags)
	}
	got.Flags = nil
	if diff := cmp.Diff(dependency.Overview{Requested: 5, Scheduled: 1, Deleting: 2, Completed: 1, Cancelled: 1, Blocked: 1, Stalled: 1}, got); diff != "" {
		t.Error(diff)
	}
	page, err := b.Deletions(b.ctx, dependency.DeletionQuery{Blocked: true})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != blocked.ID {
		t.Errorf("blocked: %v, %v", page.Items, err)
	}
}

func TestOverviewIsOfTheCallersOwn(t *testing.T) {
	b := newBench(t)
	b.create("item", "acmes")
	b.del("acmes")
	if diff := cmp.Diff(dependency.Overview{}, b.counts(b.as("other"))); diff != "" {
		t.Errorf("another owner sees: %s", diff)
	}
	if diff := cmp.Diff(dependency.Overview{Requested: 1, Deleting: 1}, b.counts(b.as("acme"))); diff != "" {
		t.Errorf("the owner sees: %s", diff)
	}
	if _, err := b.Overview(t.Context()); err == nil {
		t.Error("nobody gets an overview")
	}
}

func TestOverviewTellsWhatWasAcceptedAndCompletedInTheLastHour(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{"x", "y", "z"} {
		b.create("item", id)
	}
	b.erased(b.del("x"), "x", b.asset("x").Generation)
	b.del("y")
	sum := func() (minutes, requested, completed int) {
		o, err := b.Overview(b.ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range o.Activity {
			requested, completed = requested+m.Requested, completed+m.Completed
		}
		return len(o.Activity), requested, completed
	}
	if minutes, requested, completed := sum(); minutes != 60 || requested != 2 || completed != 1 {
		t.Errorf("%d minutes, %d accepted, %d completed", minutes, requested, completed)
	}
	b.del("z")
	if _, requested, _ := sum(); requested != 3 {
		t.Errorf("%d accepted, and not the last", requested)
	}
}

// watched follows all deletions as a caller, and gives the changes as they come.
func (b *bench) watched(ctx context.Context) <-chan dependency.Change {
	ctx, cancel := context.WithCancel(ctx)
	told, end := make(chan dependency.Change, 10_000), make(chan error, 1)
	go func() { end <- b.Changes(ctx, func(c dependency.Change) error { told <- c; return nil }) }()
	b.t.Cleanup(func() {
		cancel()
		if err := <-end; !errors.Is(err, context.Canceled) {
			b.t.Errorf("ended with %v", err)
		}
	})
	return told
}

func TestChangesTellOfAllDeletionsThatTheCallerMaySee(t *testing.T) {
	b := newBench(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	looking := make(chan error, 1)
	go func() { looking <- b.RunChanges(ctx) }()
	t.Run("", func(t *testing.T) {
		b := &bench{Service: b.Service, t: t, graph: b.graph, ctx: b.ctx, clock: b.now()}
		operators, others := b.watched(b.ctx), b.watched(b.as("other"))
		a := b.create("item", "acmes")
		d := b.del("acmes")
		if _, _, err := b.PutAsset(b.as("other"), "others", dependency.Put{Kind: "slow"}); err != nil {
			t.Fatal(err)
		}
		b.erased(d, "acmes", a.Generation)
		for ended := false; !ended; {
			c := <-operators
			if c.Deletion != d.ID || c.Root != "acmes" || c.Assets.Total != 1 {
				t.Errorf("told: %s", pretty(c))
			}
			ended = c.Status == dependency.Deleted && c.Type == events.TypeDeletionCompleted
		}
		own, err := b.Delete(b.as("other"), "others", dependency.DeleteRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if c := <-others; c.Deletion != own.ID || c.Status != dependency.Scheduled || c.Type != events.TypeDeletionRequested {
			t.Errorf("another owner is told: %s", pretty(c))
		}
	})
	cancel()
	if err := <-looking; err != nil {
		t.Error(err)
	}
}

func TestChangesSayThatThereAreMore(t *testing.T) {
	b := newBench(t)
	entries := make([]dependency.Entry, 1200)
	for i := range entries {
		entries[i] = dependency.Entry{ID: uuid.Must(uuid.NewV7()).String(), Asset: "x", Sequence: int64(i + 1), Time: b.now()}
	}
	err := b.graph.Update(t.Context(), func(tx dependency.Tx) error { return tx.Append(t.Context(), entries) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	looking := make(chan error, 1)
	go func() { looking <- b.RunChanges(ctx) }()
	if c := <-b.watched(b.ctx); !c.More || c.Deletion != "" {
		t.Errorf("told: %s", pretty(c))
	}
	cancel()
	if err := <-looking; err != nil {
		t.Error(err)
	}
}
