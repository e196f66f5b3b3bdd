package fault_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/sagatest"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

// faulty is a process with one fault, at its first call.
func faulty(kind fault.Kind) *fault.Process {
	return fault.NewProcess("p", &fault.Plan{Faults: map[int]fault.Kind{1: kind}})
}

// TestEachFaultHasItsEffect deletes two documents in one call.
func TestEachFaultHasItsEffect(t *testing.T) {
	for _, c := range []struct {
		kind  fault.Kind
		left  int
		calls int // of the store
		err   error
		ends  bool
	}{
		{fault.None, 0, 1, nil, false},
		{fault.CrashBefore, 2, 0, fault.ErrCrashed, true},
		{fault.CrashHalf, 1, 1, fault.ErrCrashed, true},
		{fault.CrashAfter, 0, 1, fault.ErrCrashed, true},
		{fault.ErrorBefore, 2, 0, fault.ErrLost, false},
		{fault.ErrorHalf, 1, 1, fault.ErrLost, false},
		{fault.ErrorAfter, 0, 1, fault.ErrLost, false},
		{fault.Twice, 0, 2, nil, false},
		{fault.Lost, 2, 0, nil, false},
	} {
		t.Run("fault: "+c.kind.String(), func(t *testing.T) {
			probe := &memory.Probe{}
			inner := memory.NewDocuments(probe)
			refs := []asset.DocumentRef{{Collection: "c", Key: "1"}, {Collection: "c", Key: "2"}}
			for _, r := range refs {
				inner.Adopt(r, nil)
			}
			p := faulty(c.kind)
			documents := fault.NewDocuments(p, inner)
			errs := documents.Delete(t.Context(), refs)
			if len(errs) != 2 || !errors.Is(errs[0], c.err) || !errors.Is(errs[1], c.err) {
				t.Errorf("got %v, want %v for each", errs, c.err)
			}
			if left, calls := len(inner.Snapshot()), probe.Calls("documents.Delete"); left != c.left || calls != c.calls {
				t.Errorf("%d documents left after %d calls, want %d after %d", left, calls, c.left, c.calls)
			}
			_, errs = documents.Exists(t.Context(), refs)
			if ended := errors.Is(errs[0], fault.ErrCrashed); ended != c.ends {
				t.Errorf("the next call gave %v; ended: want %t", errs[0], c.ends)
			}
		})
	}
}

func TestAPlanNumbersAndRecords(t *testing.T) {
	plan := &fault.Plan{Faults: map[int]fault.Kind{2: fault.ErrorBefore}}
	p := fault.NewProcess("p", plan)
	documents, ledger := fault.NewDocuments(p, memory.NewDocuments(&memory.Probe{})), fault.NewLedger(p, memory.NewLedger(&memory.Probe{}))
	refs := []asset.DocumentRef{{Collection: "c", Key: "k"}}
	first := documents.Delete(t.Context(), refs)[0]
	_, err := ledger.Totals(t.Context(), asset.LedgerKey{Asset: "a", Part: "x"})
	if first != nil || !errors.Is(err, fault.ErrLost) {
		t.Errorf("got %v and %v, want a fault at the second", first, err)
	}
	want := []fault.Call{
		{Process: "p", Port: "documents", Method: "Delete", Items: 1, About: "c k"},
		{Process: "p", Port: "ledger", Method: "Totals", Items: 1, About: "a x"},
	}
	if diff := cmp.Diff(want, plan.Calls()); diff != "" {
		t.Error(diff)
	}
}

func TestAFrozenProcessGoesOnWhenItIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := memory.NewDocuments(&memory.Probe{})
		ref := asset.DocumentRef{Collection: "c", Key: "1"}
		inner.Adopt(ref, nil)
		p := faulty(fault.Frozen)
		documents := fault.NewDocuments(p, inner)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- documents.Delete(ctx, []asset.DocumentRef{ref})[0] }()
		synctest.Wait()
		go func() {
			_, errs := documents.Exists(t.Context(), []asset.DocumentRef{ref})
			second <- errs[0]
		}()
		cancel()
		synctest.Wait()
		if !p.Frozen() || len(first) > 0 || len(second) > 0 || len(inner.Snapshot()) != 1 {
			t.Fatal("it did not stop")
		}
		p.Wake()
		if err := <-first; err != nil || len(inner.Snapshot()) != 0 {
			t.Errorf("the request that was on its way: %v", err)
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

func TestACrashEndsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := faulty(fault.None)
		bus := sagatest.NewBus(sagatest.BusConfig{})
		subscriber := fault.NewSubscriber(p, "commands", bus.Commands())
		ended := make(chan error, 1)
		go func() {
			_, err := subscriber.Fetch(t.Context(), 1)
			ended <- err
		}()
		synctest.Wait()
		p.Crash()
		if err := <-ended; !errors.Is(err, fault.ErrCrashed) {
			t.Errorf("fetch: %v", err)
		}
		p.Freeze() // it stays dead
		if _, err := subscriber.Fetch(t.Context(), 1); !errors.Is(err, fault.ErrCrashed) || p.Frozen() {
			t.Errorf("fetch after the end: %v", err)
		}
	})
}

func TestAFrozenProcessTakesNoMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := faulty(fault.None)
		bus := sagatest.NewBus(sagatest.BusConfig{})
		frozen, other := fault.NewSubscriber(p, "commands", bus.Commands()), bus.Commands()
		fetched := make(chan []saga.Delivery, 1)
		go func() {
			deliveries, _ := frozen.Fetch(t.Context(), 1)
			fetched <- deliveries
		}()
		synctest.Wait()
		p.Freeze()
		synctest.Wait()
		publish(t, bus, command("a"))
		d, err := other.Fetch(t.Context(), 1)
		if err != nil || len(d) != 1 || len(fetched) > 0 {
			t.Fatalf("another one got %d, %v", len(d), err)
		}
		p.Wake()
		publish(t, bus, command("b"))
		if d := <-fetched; len(d) != 1 || d[0].Message().Subject != command("b").Subject {
			t.Errorf("after waking: %v", d)
		}
	})
}

func command(id string) saga.Message {
	return saga.Message{Subject: events.Names{}.Command("d", id), Data: []byte(id)}
}

func publish(t *testing.T, p saga.Publisher, messages ...saga.Message) {
	t.Helper()
	if err := errors.Join(p.Publish(t.Context(), messages)...); err != nil {
		t.Fatal(err)
	}
}

func TestMessagesComeTwice(t *testing.T) {
	for name, kinds := range map[string]map[int]fault.Kind{
		"as they are fetched":       {1: fault.Twice},
		"after the acknowledgement": {2: fault.Twice},
	} {
		t.Run(name, func(t *testing.T) {
			p := fault.NewProcess("p", &fault.Plan{Faults: kinds})
			bus := sagatest.NewBus(sagatest.BusConfig{})
			subscriber := fault.NewSubscriber(p, "commands", bus.Commands())
			publish(t, bus, command("a"))
			var attempts []int
			for len(attempts) < 2 {
				deliveries, err := subscriber.Fetch(t.Context(), 10)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range deliveries {
					if string(d.Message().Data) != "a" {
						t.Errorf("message %q", d.Message().Data)
					}
					if err := d.Ack(t.Context()); err != nil {
						t.Error(err)
					}
					attempts = append(attempts, d.Attempt())
				}
			}
			if left := bus.Messages((events.Names{}).Commands().Name); !slices.Equal(attempts, []int{1, 2}) || len(left) > 0 {
				t.Errorf("attempts %v, left %d", attempts, len(left))
			}
		})
	}
}

func openGraph(t *testing.T) dependency.Graph {
	t.Helper()
	g, err := sqlite.Open(filepath.Join(t.TempDir(), "graph.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := g.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

func saved(t *testing.T, g dependency.Graph) (value string) {
	t.Helper()
	err := g.View(t.Context(), func(tx dependency.Tx) (err error) {
		value, err = tx.Setting(t.Context(), "name")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestATransactionIsAsTheFaultSays(t *testing.T) {
	for _, c := range []struct {
		kind  fault.Kind
		runs  int
		saved string
		err   error
	}{
		{fault.None, 1, "x", nil},
		{fault.CrashBefore, 0, "", fault.ErrCrashed},
		{fault.CrashAfter, 1, "x", fault.ErrCrashed},
		{fault.ErrorBefore, 0, "", fault.ErrLost},
		{fault.ErrorAfter, 1, "x", fault.ErrLost},
		{fault.Twice, 2, "xx", nil},
	} {
		t.Run("fault: "+c.kind.String(), func(t *testing.T) {
			g := openGraph(t)
			runs, value := 0, ""
			err := fault.NewGraph(faulty(c.kind), g).Update(t.Context(), func(tx dependency.Tx) error {
				runs++
				value += "x"
				return tx.SaveSetting(t.Context(), "name", value)
			})
			if !errors.Is(err, c.err) || c.err != nil && problem.As(err).Name != problem.Unavailable {
				t.Errorf("got %v, want %v, as unavailable", err, c.err)
			}
			if got := saved(t, g); runs != c.runs || got != c.saved {
				t.Errorf("ran %d times and saved %q, want %d and %q", runs, got, c.runs, c.saved)
			}
		})
	}
}

func TestACallThatFailsFailsItsTransaction(t *testing.T) {
	g := openGraph(t)
	plan := &fault.Plan{Faults: map[int]fault.Kind{3: fault.ErrorBefore}} // the second call inside
	err := fault.NewGraph(fault.NewProcess("p", plan), g).Update(t.Context(), func(tx dependency.Tx) error {
		first, second := tx.SaveSetting(t.Context(), "name", "x"), tx.SaveSetting(t.Context(), "name", "y")
		if first != nil || second == nil {
			t.Errorf("calls: %v, %v", first, second)
		}
		return nil // as if nothing had happened
	})
	if !errors.Is(err, fault.ErrLost) || saved(t, g) != "" {
		t.Errorf("got %v, saved %q", err, saved(t, g))
	}
	if about := plan.Calls()[0].About; about != "fault_test.TestACallThatFailsFailsItsTransaction" {
		t.Errorf("the transaction is said to be for %q", about)
	}
}

func TestEachCallHasTheFaultsThatMakeADifference(t *testing.T) {
	has := func(c fault.Call, k fault.Kind) bool { return slices.Contains(c.Kinds(), k) }
	look, del := fault.Call{Port: "blobs", Method: "List", Items: 5}, fault.Call{Port: "blobs", Method: "Delete", Items: 5}
	one, publish := fault.Call{Port: "blobs", Method: "Delete", Items: 1}, fault.Call{Port: "publisher", Method: "Publish", Items: 1}
	inside := fault.Call{Port: "tx", Method: "Nodes", Items: 1}
	if has(look, fault.CrashAfter) || !has(look, fault.CrashBefore) || !has(del, fault.CrashAfter) {
		t.Error("before and after differ for what has an effect, and only for it")
	}
	if !has(del, fault.CrashHalf) || has(one, fault.ErrorHalf) || has(look, fault.CrashHalf) {
		t.Error("half way is for several items that are changed")
	}
	if !has(publish, fault.Lost) || has(del, fault.Lost) {
		t.Error("only messages get lost")
	}
	if !slices.Equal(inside.Kinds(), []fault.Kind{fault.ErrorBefore}) {
		t.Errorf("inside a transaction: %v", inside.Kinds())
	}
}
