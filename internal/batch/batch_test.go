package batch_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/internal/batch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gate is a run that notes each batch and holds it until the test lets it go.
type gate struct {
	mu      sync.Mutex
	batches [][]int
	free    chan struct{}
	running atomic.Int64
	most    atomic.Int64
}

func newGate() *gate { return &gate{free: make(chan struct{})} }

func (g *gate) run(ctx context.Context, requests []int) ([]string, error) {
	now := g.running.Add(1)
	defer g.running.Add(-1)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
	g.mu.Lock()
	g.batches = append(g.batches, slices.Clone(requests))
	g.mu.Unlock()
	select {
	case <-g.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	results := make([]string, len(requests))
	for i, r := range requests {
		results[i] = fmt.Sprint(r)
	}
	return results, nil
}

func (g *gate) sizes() (sizes []int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range g.batches {
		sizes = append(sizes, len(b))
	}
	return sizes
}

// ask calls Do in the background and checks that each request gets its own result.
func ask(t *testing.T, group *batch.Group[int, string], from, to int) {
	for i := from; i < to; i++ {
		go func() {
			got, err := group.Do(t.Context(), i)
			if err != nil || got != fmt.Sprint(i) {
				t.Errorf("Do(%d): got %q, %v", i, got, err)
			}
		}()
	}
	synctest.Wait()
}

func TestAnIdleGroupRunsASingleRequestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		close(g.free)
		group := batch.New(100, 1, g.run)
		started := time.Now()
		for i := range 3 {
			if got, err := group.Do(t.Context(), i); err != nil || got != fmt.Sprint(i) {
				t.Fatalf("Do(%d): got %q, %v", i, got, err)
			}
		}
		if !slices.Equal(g.sizes(), []int{1, 1, 1}) {
			t.Errorf("batches: want three of one request, got sizes %v", g.sizes())
		}
		if waited := time.Since(started); waited != 0 {
			t.Errorf("an idle group waited %v on a timer", waited)
		}
	})
}

func TestRequestsGatherWhileABatchRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		group := batch.New(100, 1, g.run)
		ask(t, group, 0, 1)
		ask(t, group, 1, 51)
		close(g.free)
		synctest.Wait()
		if !slices.Equal(g.sizes(), []int{1, 50}) {
			t.Errorf("batches: want 1 then the 50 that gathered, got sizes %v", g.sizes())
		}
	})
}

func TestMaxBoundsEachBatchAndLanesHowManyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		group := batch.New(10, 3, g.run)
		ask(t, group, 0, 45)
		if got := g.running.Load(); got != 3 {
			t.Errorf("running: want all 3 lanes, got %d", got)
		}
		close(g.free)
		synctest.Wait()
		if got := g.most.Load(); got != 3 {
			t.Errorf("most batches side by side: want 3, got %d", got)
		}
		sizes := g.sizes()
		sum := 0
		for _, s := range sizes {
			sum += s
		}
		if slices.Max(sizes) != 10 || sum != 45 {
			t.Errorf("batches: want at most 10 each and 45 in all, got sizes %v", sizes)
		}
	})
}

func TestACancelledRequesterDoesNotDisturbItsNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		group := batch.New(10, 1, g.run)
		ask(t, group, 0, 1) // holds the lane
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { _, err := group.Do(ctx, 100); gone <- err }()
		synctest.Wait()
		ask(t, group, 1, 4)
		g.free <- struct{}{} // the first batch ends, the second starts with all four
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled requester: want context.Canceled at once, got %v", err)
		}
		synctest.Wait()
		if g.running.Load() != 1 {
			t.Error("the batch ended with the one requester that was cancelled")
		}
		close(g.free)
		synctest.Wait()
		if !slices.Equal(g.sizes(), []int{1, 4}) {
			t.Errorf("batches: want sizes [1 4], got %v", g.sizes())
		}
	})
}

func TestARequestGivenUpBeforeItsBatchStartsIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		group := batch.New(10, 1, g.run)
		ask(t, group, 0, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = group.Do(ctx, 100) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(g.free)
		synctest.Wait()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := group.Do(ended, 101); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that has ended already: want context.Canceled, got %v", err)
		}
		ask(t, group, 1, 2)
		if want := [][]int{{0}, {1}}; !slices.EqualFunc(g.batches, want, slices.Equal) {
			t.Errorf("batches: want %v, got %v", want, g.batches)
		}
	})
}

func TestABatchEndsWhenAllItsRequestersHaveGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		group := batch.New(10, 1, g.run)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { _, _ = group.Do(ctx, 1) }()
		synctest.Wait()
		<-ctx.Done()
		synctest.Wait()
		if g.running.Load() != 0 {
			t.Error("the batch still runs although nobody waits for it")
		}
	})
}

func TestTheBatchHasTheLatestDeadlineAndNoValues(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		seen := make(chan context.Context, 3)
		group := batch.New(10, 1, func(ctx context.Context, requests []int) ([]int, error) {
			seen <- ctx
			<-hold
			return requests, nil
		})
		do := func(ctx context.Context) {
			go func() { _, _ = group.Do(context.WithValue(ctx, key{}, "caller"), 0) }()
			synctest.Wait()
		}
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		long, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		do(t.Context())
		do(short)
		do(long)
		hold <- struct{}{}
		close(hold)
		if _, ok := (<-seen).Deadline(); ok {
			t.Error("a batch for a requester without a deadline has one")
		}
		ctx := <-seen
		want, _ := long.Deadline()
		if got, ok := ctx.Deadline(); !ok || !got.Equal(want) {
			t.Errorf("deadline: want the latest, %v, got %v", want, got)
		}
		if ctx.Value(key{}) != nil {
			t.Error("the batch carries a requester's values")
		}
	})
}

func TestWhateverRunDoesEveryRequesterIsAnswered(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		run  batch.Run[int, int]
		want string
	}{
		"an error fails all":     {func(context.Context, []int) ([]int, error) { return nil, boom }, "boom"},
		"too few results":        {func(context.Context, []int) ([]int, error) { return []int{}, nil }, "0 results for 1"},
		"too many results":       {func(context.Context, []int) ([]int, error) { return []int{1, 2}, nil }, "2 results for 1"},
		"a panic":                {func(context.Context, []int) ([]int, error) { panic("ouch") }, "ouch"},
		"a goroutine's exit":     {func(context.Context, []int) ([]int, error) { runtime.Goexit(); return nil, nil }, "did not return"},
		"no result and no error": {func(context.Context, []int) ([]int, error) { return nil, nil }, "0 results for 1"},
	} {
		t.Run(name, func(t *testing.T) {
			group := batch.New(10, 1, c.run)
			for range 3 { // the lane goes on
				if _, err := group.Do(t.Context(), 1); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("want an error with %q, got %v", c.want, err)
				}
			}
		})
	}
}

func TestManyRequestersAtOnceGetTheirOwnResults(t *testing.T) {
	var carried atomic.Int64
	group := batch.New(64, 4, func(_ context.Context, requests []int) ([]int, error) {
		carried.Add(int64(len(requests)))
		results := make([]int, len(requests))
		for i, r := range requests {
			results[i] = -r
		}
		return results, nil
	})
	var wg sync.WaitGroup
	for i := range 2000 {
		wg.Go(func() {
			if got, err := group.Do(t.Context(), i); err != nil || got != -i {
				t.Errorf("Do(%d): got %d, %v", i, got, err)
			}
		})
	}
	wg.Wait()
	if carried.Load() != 2000 {
		t.Errorf("carried out: want 2000, got %d", carried.Load())
	}
}
