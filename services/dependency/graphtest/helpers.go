package graphtest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// patience bounds every call, so that a lock that is never given back fails a test instead of hanging it.
const patience = 2 * time.Minute

// bounded is the context of one call.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// within gives one call of a loop its own time.
func within(t *testing.T, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return fn(ctx)
}

// teardown is a context for cleanups, where that of the test has ended already.
func teardown(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}

// update runs fn in a transaction that must succeed.
func update(t *testing.T, g dependency.Graph, fn func(ctx context.Context, tx dependency.Tx) error) {
	t.Helper()
	err := within(t, func(ctx context.Context) error {
		return g.Update(ctx, func(tx dependency.Tx) error { return fn(ctx, tx) })
	})
	if err != nil {
		t.Fatalf("update: %v", err)
	}
}

// read gives what fn reads in a View that must succeed.
func read[T any](t *testing.T, g dependency.Graph, fn func(ctx context.Context, tx dependency.Tx) (T, error)) (got T) {
	t.Helper()
	err := within(t, func(ctx context.Context) error {
		return g.View(ctx, func(tx dependency.Tx) (err error) {
			got, err = fn(ctx, tx)
			return err
		})
	})
	if err != nil {
		t.Fatalf("view: %v", err)
	}
	return got
}

// save writes records of any type in one transaction, in the order given.
func save(t *testing.T, g dependency.Graph, records ...any) {
	t.Helper()
	update(t, g, func(ctx context.Context, tx dependency.Tx) error { return write(ctx, tx, records...) })
}

// write is save inside a transaction. Neighbours of one type go in one call.
func write(ctx context.Context, tx dependency.Tx, records ...any) error {
	for len(records) > 0 {
		var err error
		switch records[0].(type) {
		case dependency.Node:
			records, err = writeRun(ctx, records, tx.SaveNodes)
		case dependency.Link:
			records, err = writeRun(ctx, records, tx.SaveLinks)
		case dependency.DeletionRecord:
			records, err = writeRun(ctx, records, tx.SaveDeletions)
		case dependency.Erasure:
			records, err = writeRun(ctx, records, tx.SaveErasures)
		case dependency.Command:
			records, err = writeRun(ctx, records, tx.SaveCommands)
		case dependency.Entry:
			records, err = writeRun(ctx, records, tx.Append)
		default:
			return errors.New("no such record")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeRun[R any](ctx context.Context, records []any, call func(context.Context, []R) error) (rest []any, err error) {
	var run []R
	for len(records) > 0 {
		r, ok := records[0].(R)
		if !ok {
			break
		}
		run, records = append(run, r), records[1:]
	}
	return records, call(ctx, run)
}

// anys lets a slice be passed to save.
func anys[R any](records []R) []any {
	var out []any
	for _, r := range records {
		out = append(out, r)
	}
	return out
}

// same compares what is wanted with what came back. An empty map or slice may come back nil; times must be in UTC.
func same(t *testing.T, want, got any) {
	t.Helper()
	utc := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) && a.Location() == b.Location() })
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), utc); diff != "" {
		t.Errorf("not as wanted (-want +got):\n%s", diff)
	}
}

// sameSet compares without regard to order.
func sameSet(t *testing.T, want, got []string) {
	t.Helper()
	less := func(a, b string) bool { return a < b }
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(less)); diff != "" {
		t.Errorf("not the same set (-want +got):\n%s", diff)
	}
}

// together starts all functions at one moment and waits for them.
func together(functions ...func()) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for _, f := range functions {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			f()
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// rounds is how often a race is run.
func rounds(full int) int {
	if testing.Short() {
		return max(full/20, 10)
	}
	return full
}

// ended tells whether err is what a call gets whose context ends before the store answers.
func ended(err error) bool {
	return errors.Is(err, problem.Unavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
