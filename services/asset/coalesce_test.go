package asset_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slow lets every call take a while of the bubble's time, in which the others gather.
func slow(ctx context.Context, m moment) error {
	if m.after {
		return nil
	}
	select {
	case <-time.After(time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestAThousandAssetsShareFewCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const n = 1000
		var commands []events.Erase
		for i := range n {
			id := fmt.Sprint("asset-", i)
			w.mesh(id, gen1)
			commands = append(commands, w.command("mesh", id, gen1))
		}
		w.mesh("neighbour", gen1)
		w.steps.set(slow)
		eraser := asset.NewEraser(w.config)
		errs := make([]error, n)
		var all sync.WaitGroup
		for i, c := range commands {
			all.Go(func() { errs[i] = eraser.Handle(t.Context(), envelope(), c, 1) })
		}
		all.Wait()
		for i, err := range errs {
			if err != nil {
				t.Fatalf("asset %d: %v", i, err)
			}
		}
		w.same("assets erased", len(of[*events.AssetErased](w.bus)), n)
		w.same("what is stored", len(w.stored()), 7) // the neighbour
		for method, most := range map[string]int{
			"documents.Exists": 40, "documents.Delete": 40, "blobs.List": 160, "blobs.Delete": 120, "ledger.Open": 40, "ledger.Done": 40,
		} {
			if calls := w.probe.Calls(method); calls > most {
				t.Errorf("%d calls of %s with %d items, want %d at most", calls, method, w.probe.Items(method), most)
			}
		}
		w.same("objects deleted", w.probe.Items("blobs.Delete"), 6*n)
	})
}

// hang lets the calls of one bucket wait for their end.
func hang(bucket string) func(ctx context.Context, m moment) error {
	return func(ctx context.Context, m moment) error {
		if m.call.Bucket != bucket || m.after {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestABucketThatHangsStopsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.now = time.Now // the bubble's
		w.crowd()
		w.steps.set(hang("scans"))
		began := time.Now()
		eraser := asset.NewEraser(w.config)
		scan, mesh := w.command("scan", "a", gen1), w.command("mesh", "b", gen1)

		stuck := make(chan error, 1)
		go func() { stuck <- eraser.Handle(t.Context(), envelope(), scan, 1) }()
		synctest.Wait()
		if err := eraser.Handle(t.Context(), envelope(), mesh, 1); err != nil {
			t.Fatal(err)
		}
		w.same("time for the healthy one", time.Since(began), time.Duration(0))
		w.same("evidence", w.evidence(mesh), meshEvidence(gen1), countsOnly)

		if err := <-stuck; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("handle: %v, want %v", err, context.DeadlineExceeded)
		}
		w.same("time for the one that hangs", time.Since(began), 30*time.Second)
		w.same("parts erased", partsOf(of[*events.PartErased](w.bus)), []string{"info"})
	})
}

func TestABucketThatDidNotAnswerIsLeftAloneForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.now = time.Now // the bubble's
		w.crowd()
		eraser := asset.NewEraser(w.config)
		c := w.command("scan", "a", gen1)
		took := func() time.Duration {
			began := time.Now()
			if err := eraser.Handle(t.Context(), envelope(), c, 1); err == nil {
				t.Error("erased by a bucket that hangs")
			}
			return time.Since(began)
		}
		w.steps.set(hang("scans"))
		w.same("first", took(), 30*time.Second)
		w.same("second", took(), time.Duration(0))
		<-time.After(30 * time.Second)
		trying := make(chan time.Duration, 1)
		go func() { trying <- took() }()
		synctest.Wait()
		w.same("while one tries again", took(), time.Duration(0))
		w.same("one tries again", <-trying, 30*time.Second)
		w.same("then rest again", took(), time.Duration(0))
		<-time.After(30 * time.Second)
		w.steps.set(nil)
		if err := eraser.Handle(t.Context(), envelope(), c, 1); err != nil {
			t.Errorf("once it answers: %v", err)
		}
		w.same("evidence", w.evidence(c), crowdEvidence("scan"), countsOnly)
	})
}
