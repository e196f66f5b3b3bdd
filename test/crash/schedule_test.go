package crash

import (
	"cmp"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/tombstone-project/tombstone/internal/fault"
)

// schedule is a fault.Script in which each call waits for its turn. Calls inside a transaction have theirs with it.
type schedule struct {
	seed    uint64        // 0: calls in order of their names; else another order for each seed
	free    bool          // no call waits
	arrived chan struct{} // a token when a call came to wait

	mu      sync.Mutex
	plan    *fault.Plan // from begin to end
	waiting []*turn
	given   uint64
}

type turn struct {
	call  fault.Call
	fault chan fault.Kind
}

func newSchedule(seed uint64, free bool) *schedule {
	return &schedule{seed: seed, free: free, arrived: make(chan struct{}, 1)}
}

// Next waits for the turn of the call.
func (s *schedule) Next(c fault.Call) fault.Kind {
	if s.free || c.Port == "tx" {
		return s.begin(c)
	}
	t := &turn{c, make(chan fault.Kind, 1)}
	s.mu.Lock()
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()
	s.knock()
	return <-t.fault
}

// begin numbers a call and gives its fault.
func (s *schedule) begin(c fault.Call) fault.Kind {
	s.mu.Lock()
	plan := s.plan
	s.mu.Unlock()
	if plan == nil {
		return fault.None
	}
	if kind := plan.Next(c); slices.Contains(c.Kinds(), kind) {
		return kind
	}
	return fault.None
}

// follow numbers calls from now on by the plan; nil ends that.
func (s *schedule) follow(p *fault.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = p
}

// knock makes the driver look.
func (s *schedule) knock() {
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}

// admit gives the turn to one of the calls that wait, if it may have one.
func (s *schedule) admit(may func(process string) bool) (c fault.Call, ok bool) {
	s.mu.Lock()
	var ready []*turn
	for _, t := range s.waiting {
		if may(t.call.Process) {
			ready = append(ready, t)
		}
	}
	if len(ready) == 0 {
		s.mu.Unlock()
		return fault.Call{}, false
	}
	s.given++
	t := slices.MinFunc(ready, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(s.rank(a.call), s.rank(b.call)), compareCalls(a.call, b.call))
	})
	s.waiting = slices.DeleteFunc(s.waiting, func(w *turn) bool { return w == t })
	s.mu.Unlock()
	t.fault <- s.begin(t.call)
	return t.call, true
}

// rank is where a call stands in the order of the seed.
func (s *schedule) rank(c fault.Call) uint64 {
	if s.seed == 0 {
		return 0
	}
	h := fnv.New64a()
	for _, n := range []uint64{s.seed, s.given} {
		for i := range 8 {
			h.Write([]byte{byte(n >> (8 * i))})
		}
	}
	h.Write([]byte(c.Process + c.Name()))
	return h.Sum64()
}

func compareCalls(a, b fault.Call) int {
	return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Method, b.Method),
		cmp.Compare(a.About, b.About), cmp.Compare(a.Items, b.Items))
}

// release lets all calls of processes that have ended find that out, and tells whether there were any.
func (s *schedule) release(ended func(process string) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.waiting)
	s.waiting = slices.DeleteFunc(s.waiting, func(t *turn) bool {
		if ended(t.call.Process) {
			t.fault <- fault.None
			return true
		}
		return false
	})
	return len(s.waiting) < before
}
