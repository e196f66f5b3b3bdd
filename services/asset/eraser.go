package asset

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga"
)

// Config is what the asset service works with. All stores, the gate and the publisher must be set.
type Config struct {
	Policy    *policy.Policy
	Documents Documents
	Blobs     Blobs
	Ledger    Ledger
	Gate      Gate
	Signer    Signer // of Service; an Eraser needs none
	Publisher saga.Publisher
	Names     events.Names
	Log       *slog.Logger     // default: slog.Default()
	Now       func() time.Time // default: time.Now
	// CallTimeout bounds one call of a store, the waiting for its batch included. Default 30 seconds.
	CallTimeout time.Duration
	// BatchTime is how long after the look of another worker a batch of its deletions may be open at the object store. Default:
	// CallTimeout.
	BatchTime time.Duration
}

// Eraser carries out erase commands. One Handle is straight sequential code for one asset; a worker runs many at once, and
// their calls of the stores meet in batches.
type Eraser struct {
	policy *policy.Policy
	stores *stores
	names  events.Names
	log    *slog.Logger
	now    func() time.Time
	batch  time.Duration // Config.BatchTime
	runs   ownRuns
}

// NewEraser makes an Eraser. It starts nothing and needs no closing.
func NewEraser(c Config) *Eraser {
	c.CallTimeout = cmp.Or(c.CallTimeout, 30*time.Second)
	c.BatchTime = cmp.Or(c.BatchTime, c.CallTimeout)
	c.Log = cmp.Or(c.Log, slog.Default())
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Eraser{policy: c.Policy, stores: newStores(c), names: c.Names, log: c.Log, now: c.Now, batch: c.BatchTime}
}

// Handle erases what one command names, and reports it. It looks at the present state of the stores and moves it forward, so
// it may be called again at any time: after a crash, twice at once, or long after the erasure was done.
//
// Nil means that the command can be acknowledged: everything was seen to be absent and the bus has the report, or the
// graph says that there is nothing to do. A *saga.Parked says that it should come again much later; any other error, soon.
// attempt counts the deliveries, from 1.
func (e *Eraser) Handle(ctx context.Context, envelope events.Envelope, command events.Erase, attempt int) error {
	run := &erasure{Eraser: e, envelope: envelope, command: command, attempt: attempt, heard: e.now()}
	defer run.leave()
	wanted, err := run.erase(ctx)
	if err != nil {
		return run.outcome(ctx, err)
	}
	if !wanted {
		return nil
	}
	return run.outcome(ctx, run.report(ctx))
}

// erasure is one command in hand.
type erasure struct {
	*Eraser
	envelope events.Envelope
	command  events.Erase
	attempt  int
	parts    []*part   // in the policy's order
	heard    time.Time // when the graph was told last that this is in hand
}

// erase takes every part as far as it goes. It is false when the graph says that this erasure is not wanted, and then
// nothing may be reported. An error is one of the whole command; what a part meets stays with it, so that it does not
// keep the others.
func (r *erasure) erase(ctx context.Context) (wanted bool, err error) {
	if wanted, err := r.plan(ctx); err != nil || !wanted {
		return false, err
	}
	r.lookAll(ctx)
	if r.command.Recheck > 0 {
		r.each(func(*part) bool { return true }, func(p *part) { r.recall(ctx, p) })
	}
	r.each((*part).active, func(p *part) { r.open(ctx, p) })
	for len(r.which((*part).active)) > 0 {
		// What was listed before the question may be deleted after its answer, nothing else (DESIGN section 3).
		if wanted, err := r.ask(ctx); err != nil || !wanted {
			return false, err
		}
		for _, p := range r.which((*part).active) {
			r.remove(ctx, p)
		}
		r.lookAll(ctx)
		r.each((*part).active, func(p *part) { r.settle(ctx, p) })
		r.tellInHand(ctx)
	}
	return true, nil
}

// lookAll looks afresh at every part that is still to be erased.
func (r *erasure) lookAll(ctx context.Context) {
	r.each((*part).active, func(p *part) { r.look(ctx, p) })
}

// which gives the parts in this state.
func (r *erasure) which(state func(*part) bool) []*part {
	var out []*part
	for _, p := range r.parts {
		if state(p) {
			out = append(out, p)
		}
	}
	return out
}

// each calls f for all parts in this state at once.
func (r *erasure) each(state func(*part) bool, f func(*part)) {
	parts := r.which(state)
	each(len(parts), func(i int) { f(parts[i]) })
}
