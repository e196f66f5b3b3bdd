package timelapse

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// H-17: a start with a large backlog is no storm: the oldest flags go first, only so many stand on the bus at a time, memory
// stays bounded, and a deletion that is asked for meanwhile does not wait behind all of them.
func TestAStartWithALargeBacklogIsNoStorm(t *testing.T) {
	backlog, limit := 12_000, 1_500
	if testing.Short() {
		backlog, limit = 1_000, 150
	}
	inTime(t, func(w *world, r *replica) {
		r.stop()
		w.flagged(backlog)
		w.backlog = limit
		w.fail(func(c memory.Call) error { // a slow object store
			if c.Store == "blobs" {
				pass(time.Second)
			}
			return nil
		})
		peak, heap := w.watch()
		r = w.start()
		fresh := w.delete(r, w.fill(r, "mesh", "fresh", 1))
		var done, left int
		for done = 0; left > 0 || done == 0; done++ {
			pass(time.Second)
			if left = w.unfinished(r, fresh); done > 60 {
				w.Fatal("the fresh one is not done after a minute")
			}
		}
		n, _, err := w.flagsLeft()
		if err != nil || n < backlog/2 {
			w.Errorf("%d flags were left when the fresh one was done, %v", n, err)
		}
		w.fail(nil)
		for n > 0 {
			pass(10 * time.Second)
			if n, _, err = w.flagsLeft(); err != nil {
				w.Fatal(err)
			}
		}
		if p := peak.Load(); p > int64(limit)+1000 {
			w.Errorf("up to %d commands stood on the bus, want %d and a page", p, limit)
		}
		if h := heap.Load(); h > 256<<20 {
			w.Errorf("up to %d MiB of heap", h>>20)
		}
		t.Logf("fresh one after %d s; %d commands on the bus and %d MiB of heap at most", done, peak.Load(), heap.Load()>>20)
	})
}

func (w *world) flagsLeft() (n int, oldest time.Time, err error) {
	err = w.graph.View(w.ctx, func(tx dependency.Tx) error {
		n, oldest, err = tx.CountCommands(w.ctx, time.Now())
		return err
	})
	return n, oldest, err
}

// watch looks twice a second how many commands stand on the bus and how large the heap is, and keeps the greatest.
func (w *world) watch() (peak, heap *atomic.Int64) {
	peak, heap = &atomic.Int64{}, &atomic.Int64{}
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			pass(500 * time.Millisecond)
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			peak.Store(max(peak.Load(), int64(len(w.bus.Messages(events.Names{}.Commands().Name)))))
			heap.Store(max(heap.Load(), int64(stats.HeapAlloc)))
		}
	}()
	w.Cleanup(func() { cancel(); <-ended })
	return peak, heap
}

// flagged writes n deletions that were accepted, and not sent, by a process that is gone.
func (w *world) flagged(n int) {
	w.Helper()
	const page = 1000
	at := time.Now()
	for from := 0; from < n; from += page {
		err := w.graph.Update(w.ctx, func(tx dependency.Tx) error {
			var nodes []dependency.Node
			var deletions []dependency.DeletionRecord
			var erasures []dependency.Erasure
			var commands []dependency.Command
			for i := from; i < min(n, from+page); i++ {
				id, did := fmt.Sprintf("old-%d", i), uuid.Must(uuid.NewV7()).String()
				nodes = append(nodes, dependency.Node{ID: id, Kind: "scan", Owner: "acme", Generation: did, Status: dependency.Deleting, Deletion: did, DueAt: at})
				deletions = append(deletions, dependency.DeletionRecord{ID: did, Root: id, Owner: "acme", Status: dependency.Deleting, DueAt: at, RequestedAt: at, Total: 1})
				erasures = append(erasures, dependency.Erasure{Deletion: did, Asset: id, Kind: "scan", Owner: "acme", Generation: did,
					CheckAt: at.Add(15 * time.Minute), Steps: []dependency.Step{{Part: "raw", Generation: did, Status: dependency.StepWaiting}}})
				commands = append(commands, dependency.Command{ID: did, Deletion: did, Asset: id, DueAt: at, Since: at})
			}
			for _, save := range []error{tx.SaveNodes(w.ctx, nodes), tx.SaveDeletions(w.ctx, deletions), tx.SaveErasures(w.ctx, erasures),
				tx.SaveCommands(w.ctx, commands), tx.AddUsage(w.ctx, map[string]dependency.Usage{"acme": {Assets: int64(len(nodes))}})} {
				if save != nil {
					return save
				}
			}
			return nil
		})
		if err != nil {
			w.Fatal(err)
		}
	}
}

// waiting is how many commands the bus holds.
func (w *world) waiting(context.Context) (int, error) {
	return len(w.bus.Messages(events.Names{}.Commands().Name)), nil
}
