package crash

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// mesh lies in places that hold the generation; nothing but versions and a field tells the generations of the others apart.
// It is a format for the buckets of meshes and of the others, R2's patience, and the grace of slow.
const policyText = `
links: {DEPENDS_ON: {on_target_delete: restrict}}
resend_after: %[3]s
kinds:
  mesh:
    parts:
      note:    {document: {collection: notes, key: "{id}/{generation}"}}
      payload: {blobs: {bucket: %[1]s, prefix: "payload/{id}/{generation}/"}}
  scan:
    parts:
      info: {document: {collection: infos}}
      raw:  {blobs: {bucket: %[2]s, prefix: "raw/{id}/"}}
  slow:
    grace: %[4]s
    parts:
      info: {document: {collection: slowinfos}}
      raw:  {blobs: {bucket: %[2]s, prefix: "slow/{id}/"}}
`

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
	setting
	policy   *policy.Policy
	graph    dependency.Graph
	schedule *schedule
	plan     *fault.Plan

	mu        sync.Mutex
	processes []*process
	changed   chan struct{}           // closed, and made anew, when the graph may have changed
	work      map[string]saga.Message // that was ever on the bus, by subject
	used      map[means]bool          // by what it went on after its faults
	muted     bool

	looking    sync.Mutex        // one look at a time
	bystanders map[string]string // everything in the stores that is nobody's, by name
	holdings   []*holding
	deletions  []string // accepted
	cancelled  map[string]bool
	violations []string
}

// newWorld is a run around an empty graph and empty stores, into which it puts the bystanders.
func newWorld(t *testing.T, graph dependency.Graph, s setting, o options) *world {
	p, err := policy.Parse("policy.yaml", fmt.Appendf(nil, policyText, s.meshes, s.others, s.resendAfter, s.grace))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{options: o, setting: s, policy: p, graph: graph, schedule: newSchedule(o.seed, s.free), plan: o.plan(s.free),
		changed: make(chan struct{}), work: map[string]saga.Message{}, used: map[means]bool{}, cancelled: map[string]bool{}}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	w.addBystanders()
	return w
}

// plan is where the faults of a run strike: at the calls with these numbers; where calls come in any order, at those with
// these numbers of their label.
func (o options) plan(free bool) *fault.Plan {
	p := &fault.Plan{Faults: map[int]fault.Kind{}, Nth: o.nth}
	if free {
		p.NameOf, p.Nth = label, map[fault.Nth]fault.Kind{}
	}
	for _, s := range o.faults {
		if free {
			p.Nth[fault.Nth{Name: s.label, N: s.number}] = s.kind
		} else {
			p.Faults[s.number] = s.kind
		}
	}
	return p
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
