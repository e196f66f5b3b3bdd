package fault

import "sync"

// Script says what happens at each call. Next is asked when a call is about to begin, from whatever goroutine makes it, and
// may let it wait for its turn.
type Script interface {
	Next(c Call) Kind
}

// Plan is a Script that numbers calls from 1 in the order in which they begin, records them, and has faults at some of
// them. The zero value only records.
type Plan struct {
	Faults map[int]Kind

	mu    sync.Mutex
	calls []Call
}

// Next notes the call and gives the fault that was planned for its number.
func (p *Plan) Next(c Call) Kind {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
	return p.Faults[len(p.calls)]
}

// Calls are those that began so far, in order.
func (p *Plan) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Call{}, p.calls...)
}
