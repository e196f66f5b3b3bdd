package crash

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga/sagatest"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// mesh lies in places that hold the generation; nothing but versions and a field tells the generations of the others apart.
const policyText = `
links: {DEPENDS_ON: {on_target_delete: restrict}}
resend_after: 2m
kinds:
  mesh:
    parts:
      note:    {document: {collection: notes, key: "{id}/{generation}"}}
      payload: {blobs: {bucket: assets, prefix: "payload/{id}/{generation}/"}}
  scan:
    parts:
      info: {document: {collection: infos}}
      raw:  {blobs: {bucket: scans, prefix: "raw/{id}/"}}
  slow:
    grace: 30s
    parts:
      info: {document: {collection: slowinfos}}
      raw:  {blobs: {bucket: scans, prefix: "slow/{id}/"}}
`

// The times of the system under test, in the time of the bubble.
const (
	lookEvery = 12 * time.Second // R1
	ackWait   = 30 * time.Second // of the bus
	grace     = 30 * time.Second // of the kind slow
)

// means are by what a run goes on after its faults.
type means string

const (
	restart    means = "restart"    // of what crashed
	replica    means = "replica"    // beside what is frozen
	asked      means = "asked"      // the client asks again
	r1         means = "R1"         // a flag or an entry is found unsent
	r2         means = "R2"         // the command is flagged again
	redelivery means = "redelivery" // the message comes again
)

// options of one run.
type options struct {
	scenario scenario
	faults   []spot  // in the order of their calls
	usual    []means // what the scenario uses without any fault
	seed     uint64  // of the schedule
	noR2     bool
	plant    plant // a mistake
	log      *slog.Logger
	nth      map[fault.Nth]fault.Kind // faults besides
	repeats  func(w *world)           // at the end: what must change nothing; nil: checkRepeats
}

// world is the stores, the bus and the processes of one run.
type world struct {
	options
	policy    *policy.Policy
	graph     dependency.Graph
	documents *memory.Documents
	blobs     *memory.Blobs
	ledger    *memory.Ledger
	bus       *sagatest.Bus
	schedule  *schedule
	plan      *fault.Plan

	mu        sync.Mutex
	processes []*process
	changed   chan struct{} // closed, and made anew, when the graph may have changed
	subjects  map[string]bool
	used      map[means]bool // by what it went on after its faults
	muted     bool

	bystanders map[string]string // everything in the stores that is nobody's, by name
	holdings   []*holding
	deletions  []string // accepted
	cancelled  map[string]bool
	violations []string
}

// newWorld makes the stores around an empty graph, with the bystanders in them.
func newWorld(t *testing.T, graph dependency.Graph, o options) *world {
	p, err := policy.Parse("policy.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	probe := &memory.Probe{}
	w := &world{options: o, policy: p, graph: graph, documents: memory.NewDocuments(probe), blobs: memory.NewBlobs(probe), ledger: memory.NewLedger(probe),
		bus: sagatest.NewBus(sagatest.BusConfig{AckWait: ackWait}), schedule: newSchedule(o.seed), plan: &fault.Plan{Faults: map[int]fault.Kind{}, Nth: o.nth},
		changed: make(chan struct{}), subjects: map[string]bool{}, used: map[means]bool{}, cancelled: map[string]bool{}}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	for _, s := range o.faults {
		w.plan.Faults[s.number] = s.kind
	}
	for _, bucket := range p.Buckets() {
		w.blobs.CreateBucket(bucket, memory.Enabled)
	}
	w.addBystanders()
	return w
}

// note remembers by what the run goes on after its faults.
func (w *world) note(m means) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m != redelivery || !w.muted {
		w.used[m] = true
	}
}

// mute is for the time in which messages come again on purpose.
func (w *world) mute(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.muted = on
}

func (w *world) violate(guarantee, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, guarantee+": "+fmt.Sprintf(format, args...))
}

// broadcast lets those who wait for the graph look.
func (w *world) broadcast() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) change() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func closed[T any](c <-chan T) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
