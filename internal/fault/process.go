package fault

import (
	"context"
	"sync"
)

// Process is one simulated process: everything that calls ports through the same wrappers. It ends with Crash, and then
// every call of it fails at once; the stores behind the wrappers live on.
type Process struct {
	name   string
	script Script

	ended chan struct{} // closed by Crash

	mu      sync.Mutex
	awake   chan struct{} // closed while the process runs
	changed chan struct{} // closed, and made anew, when a fetch must look again
}

// NewProcess makes a process that runs.
func NewProcess(name string, script Script) *Process {
	p := &Process{name: name, script: script, ended: make(chan struct{}), awake: make(chan struct{}), changed: make(chan struct{})}
	close(p.awake)
	return p
}

// Ended is closed when the process has crashed.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Crash ends the process; again it does nothing.
func (p *Process) Crash() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hasEnded() {
		close(p.ended)
		p.lookAgain()
	}
}

// Freeze stops the process at its next calls; those that wait for messages give up waiting.
func (p *Process) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isFrozen() {
		p.awake = make(chan struct{})
		p.lookAgain()
	}
}

// Wake lets a frozen process go on.
func (p *Process) Wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isFrozen() {
		close(p.awake)
	}
}

// Frozen tells whether the process is stopped.
func (p *Process) Frozen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isFrozen() && !p.hasEnded()
}

func (p *Process) hasEnded() bool { return closed(p.ended) }
func (p *Process) isFrozen() bool { return !closed(p.awake) }

// lookAgain interrupts fetches that wait. p.mu is held.
func (p *Process) lookAgain() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// running waits while the process is frozen, and gives ErrCrashed when it has ended. It does not look at a context: what
// is frozen looks at nothing.
func (p *Process) running() error {
	for {
		p.mu.Lock()
		awake := p.awake
		p.mu.Unlock()
		select {
		case <-awake:
		case <-p.ended:
		}
		switch {
		case p.hasEnded():
			return ErrCrashed
		case !p.Frozen():
			return nil
		}
	}
}

// begin is the time before an effect: it asks the script and does what comes before. An error ends the call.
func (p *Process) begin(c Call) (Kind, error) {
	if err := p.running(); err != nil {
		return None, err
	}
	c.Process = p.name
	kind := p.script.Next(c)
	switch kind {
	case CrashBefore:
		p.Crash()
	case Frozen:
		p.Freeze()
	case ErrorBefore:
		return kind, ErrLost
	}
	return kind, p.running()
}

// finish is the time after an effect: the caller gets err, if it gets anything.
func (p *Process) finish(kind Kind, err error) error {
	if kind == CrashAfter || kind == CrashHalf {
		p.Crash()
	}
	if ended := p.running(); ended != nil {
		return ended
	}
	if kind == ErrorAfter || kind == ErrorHalf {
		return ErrLost
	}
	return err
}

// effect is what a call does behind the wrapper, for so many of its items.
type effect func(ctx context.Context, items int) error

// do carries out one call that is one request, as the script says.
func (p *Process) do(ctx context.Context, c Call, do effect) error {
	kind, err := p.begin(c)
	if err != nil {
		return err
	}
	items := c.Items
	switch kind {
	case Frozen:
		ctx = context.WithoutCancel(ctx)
	case CrashHalf, ErrorHalf:
		items /= 2
	case Twice:
		_ = do(ctx, items)
	}
	if kind != Lost {
		err = do(ctx, items)
	}
	return p.finish(kind, err)
}

// each is do for a call that answers item by item: a fault of the call is one of each item.
func (p *Process) each(ctx context.Context, c Call, do func(ctx context.Context, items int) []error) []error {
	errs := make([]error, c.Items)
	err := p.do(ctx, c, func(ctx context.Context, items int) error {
		copy(errs, do(ctx, items))
		return nil
	})
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// watch gives the channel that is closed when a fetch must look again.
func (p *Process) watch() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}
