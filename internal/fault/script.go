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
	Nth    map[Nth]Kind // faults of calls by their names
	// NameOf is the name of a call in Nth; nil: Call.Name.
	NameOf func(Call) string

	mu    sync.Mutex
	calls []Call
	seen  map[string]int // calls of each name
}

// Nth is the n-th call of a name, from 1.
type Nth struct {
	Name string
	N    int
}

// Next notes the call and gives the fault that was planned for its name, or for its number.
func (p *Plan) Next(c Call) Kind {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
	if p.seen == nil {
		p.seen = map[string]int{}
	}
	name := c.Name()
	if p.NameOf != nil {
		name = p.NameOf(c)
	}
	p.seen[name]++
	if kind := p.Nth[Nth{name, p.seen[name]}]; kind != None {
		return kind
	}
	return p.Faults[len(p.calls)]
}

// Calls are those that began so far, in order.
func (p *Plan) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Call{}, p.calls...)
}
