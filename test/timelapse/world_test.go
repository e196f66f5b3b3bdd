package timelapse

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/sagatest"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

const policyText = `
sweep: {min_age: 24h}
links: {DEPENDS_ON: {on_target_delete: restrict}, PART_OF: {on_target_delete: cascade}}
kinds:
  mesh:
    parts:
      note:    {document: {collection: notes, key: "{id}/{generation}"}}
      payload: {blobs: {bucket: assets, prefix: "payload/{id}/{generation}/"}}
  scan:
    parts:
      raw:  {blobs: {bucket: scans, prefix: "raw/{id}/{generation}/"}}
  twin:
    parts:
      all:  {blobs: {bucket: twins, prefix: "twins/{owner}/{id}/{generation}/"}}
  file:
    parts:
      all:  {blobs: {bucket: files, prefix: "files/{id}/"}}
`

// world is the stores and the bus of one installation, and who uses it.
type world struct {
	*testing.T
	policy    *policy.Policy
	graph     dependency.Graph
	documents *memory.Documents
	blobs     *memory.Blobs
	ledger    *memory.Ledger
	bus       *sagatest.Bus
	ctx       context.Context // an operator's
	backlog   int             // how many commands may stand on the bus; 0: the default

	mu    sync.Mutex
	fault func(memory.Call) error // of the stores; nil: none
	tries map[string]int          // how often a command was handled, by subject
}

// inTime runs a test in a bubble, with a replica of the whole system that runs from the beginning.
func inTime(t *testing.T, test func(w *world, first *replica)) {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "tombstone-timelapse-") // where the system keeps files in memory
	if err != nil {
		folder = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	synctest.Test(t, func(t *testing.T) {
		catchUp()
		w := newWorld(t, filepath.Join(folder, "graph.db"))
		test(w, w.start())
	})
}

// catchUp lets time go by until new ids are of now: they rise in the whole process, and every bubble begins at the same time.
func catchUp() {
	seconds, nanos := uuid.Must(uuid.NewV7()).Time().UnixTime()
	pass(max(0, time.Until(time.Unix(seconds, nanos))))
}

func newWorld(t *testing.T, file string) *world {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	g, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close(context.Background()) })
	w := &world{T: t, policy: p, graph: g, tries: map[string]int{}, bus: sagatest.NewBus(sagatest.BusConfig{}),
		ctx: dependency.WithCaller(t.Context(), dependency.Caller{Subject: "olga", Owner: "acme", Operator: true})}
	probe := &memory.Probe{Before: func(_ context.Context, c memory.Call) error { return w.failing(c) }}
	w.documents, w.blobs, w.ledger = memory.NewDocuments(probe), memory.NewBlobs(probe), memory.NewLedger(probe)
	for _, bucket := range p.Buckets() {
		w.blobs.CreateBucket(bucket, memory.Enabled)
	}
	return w
}

func (w *world) failing(c memory.Call) error {
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(c) // without the lock: it may take its time
}

// fail makes the stores fail as f says, until it is called again; nil ends it.
func (w *world) fail(f func(memory.Call) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

// down is a store that refuses all its calls.
func down(store string, err error) func(memory.Call) error {
	return func(c memory.Call) error {
		if c.Store == store {
			return err
		}
		return nil
	}
}

// replica is one process that runs both services.
type replica struct {
	*dependency.Service
	stop func() // and waits for the end
}

// start starts a replica; it stops with the test.
func (w *world) start() *replica {
	w.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	var commands, feed *saga.Relay
	stores := asset.Config{Policy: w.policy, Documents: w.documents, Blobs: w.blobs, Ledger: w.ledger, Publisher: w.bus, Log: log}
	deps, err := dependency.New(dependency.Config{Graph: w.graph, Policy: w.policy, Logger: log, Stores: asset.NewInspector(stores),
		SendCommands: func(f []saga.Flag) { commands.Send(f) },
		SendEvents:   func(f []saga.Flag) { feed.Send(f) },
		Nudge:        func() { commands.Nudge() }})
	if err != nil {
		w.Fatal(err)
	}
	if err := deps.Prepare(w.ctx); err != nil {
		w.Fatal(err)
	}
	commands = saga.NewRelay(saga.RelayConfig{Name: "commands", Outbox: deps.Commands(), Publisher: w.bus, Waiting: w.waiting, Backlog: w.backlog, Logger: log})
	feed = saga.NewRelay(saga.RelayConfig{Name: "feed", Outbox: deps.Feed(), Publisher: w.bus, Logger: log})
	reports := saga.Worker{Name: "reports", Subscriber: w.bus.Reports(), Handle: deps.HandleReport, Logger: log}
	stores.Gate = deps
	eraser := asset.NewEraser(stores)
	erase := saga.Worker{Name: "erase", Subscriber: w.bus.Commands(), Handle: w.counted(eraser.HandleMessage), Park: eraser.Park, Logger: log}
	ctx, cancel := context.WithCancel(w.ctx)
	var parts sync.WaitGroup
	for _, run := range []func(context.Context) error{commands.Run, feed.Run, deps.RunSent, deps.RunResend, deps.RunStalled, deps.RunSweep, reports.Run, erase.Run} {
		parts.Go(func() {
			if err := run(ctx); err != nil {
				w.Errorf("a part ended with: %v", err)
			}
		})
	}
	r := &replica{Service: deps, stop: func() { cancel(); parts.Wait() }}
	w.Cleanup(r.stop)
	return r
}

// counted counts how often each command is handled.
func (w *world) counted(handle func(context.Context, saga.Message, int) error) func(context.Context, saga.Message, int) error {
	return func(ctx context.Context, m saga.Message, attempt int) error {
		w.mu.Lock()
		w.tries[m.Subject]++
		w.mu.Unlock()
		return handle(ctx, m, attempt)
	}
}

// handled is how often commands were handled, all together.
func (w *world) handled() (sum int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := range maps.Values(w.tries) {
		sum += n
	}
	return sum
}

// fill creates n assets of a kind, with a document and an object each where the kind has them.
func (w *world) fill(r *replica, kind, prefix string, n int) (ids []string) {
	w.Helper()
	for i := range n {
		id := fmt.Sprintf("%s-%d", prefix, i)
		a, _, err := r.PutAsset(w.ctx, id, dependency.Put{Kind: kind})
		if err != nil {
			w.Fatal(err)
		}
		key := "payload/" + id + "/" + a.Generation + "/one"
		bucket := "assets"
		if kind == "scan" {
			key, bucket = "raw/"+id+"/"+a.Generation+"/one", "scans"
		} else {
			ref := asset.DocumentRef{Collection: "notes", Key: id + "/" + a.Generation, Generation: a.Generation, Fenced: true}
			if err := w.documents.Put(w.ctx, ref, map[string]any{"of": id}); err != nil {
				w.Fatal(err)
			}
		}
		if err := w.blobs.Put(w.ctx, bucket, key, strings.NewReader(id), int64(len(id))); err != nil {
			w.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// delete asks for the deletion of each, all at once, and gives their ids.
func (w *world) delete(r *replica, assets []string) []string {
	w.Helper()
	dids := make([]string, len(assets))
	var all sync.WaitGroup
	for i, id := range assets {
		all.Go(func() {
			d, err := r.Delete(w.ctx, id, dependency.DeleteRequest{Reason: "test"})
			if err != nil {
				w.Errorf("delete %s: %v", id, err)
			}
			dids[i] = d.ID
		})
	}
	all.Wait()
	return dids
}

// pass lets time go by.
func pass(d time.Duration) { <-time.After(d) }

// unfinished counts deletions that are not deleted.
func (w *world) unfinished(r *replica, deletions []string) (n int) {
	w.Helper()
	for _, id := range deletions {
		d, err := r.Deletion(w.ctx, id, "")
		if err != nil {
			w.Fatal(err)
		}
		if d.Status != dependency.Deleted {
			n++
		}
	}
	return n
}

// stored is everything in the stores.
func (w *world) stored() map[string]string {
	all := w.documents.Snapshot()
	maps.Copy(all, w.blobs.Snapshot())
	return all
}

// allGone wants the deletions completed, the stores empty, and nothing left to send.
func (w *world) allGone(r *replica, deletions []string) {
	w.Helper()
	if n := w.unfinished(r, deletions); n > 0 {
		w.Errorf("%d of %d deletions are not completed", n, len(deletions))
	}
	if left := w.stored(); len(left) > 0 {
		w.Errorf("left in the stores: %v", left)
	}
	if p, err := r.Pending(w.ctx, ""); err != nil || len(p.Items) > 0 {
		w.Errorf("flags left: %+v, %v", p.Items, err)
	}
}
