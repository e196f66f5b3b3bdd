package sagatest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/saga"
)

// Outbox is an outbox in memory. It implements saga.Outbox. Its clock is the system's, and Advance puts it forward.
type Outbox struct {
	mu    sync.Mutex
	flags []*flag // oldest first
	ahead time.Duration
	fault error
	lost  bool // Sent forgets
}

type flag struct {
	saga.Flag
	due   time.Time
	until time.Time // claimed until
}

// NewOutbox makes an empty outbox.
func NewOutbox() *Outbox { return &Outbox{} }

// Set adds flags that are due now.
func (o *Outbox) Set(flags ...saga.Flag) { o.SetDue(0, flags...) }

// SetDue adds flags that are due in a while.
func (o *Outbox) SetDue(in time.Duration, flags ...saga.Flag) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range flags {
		o.flags = append(o.flags, &flag{Flag: f, due: o.now().Add(in)})
	}
}

// Flags are those that are still set, oldest first.
func (o *Outbox) Flags() (flags []saga.Flag) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.flags {
		flags = append(flags, f.Flag)
	}
	return flags
}

// Claim takes flags that are due and free, oldest first.
func (o *Outbox) Claim(ctx context.Context, max int, hold time.Duration) ([]saga.Flag, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := errors.Join(ctx.Err(), o.fault); err != nil {
		return nil, err
	}
	now := o.now()
	var claimed []saga.Flag
	for _, f := range o.flags {
		if len(claimed) < max && !f.due.After(now) && !f.until.After(now) {
			f.until = now.Add(hold)
			claimed = append(claimed, f.Flag)
		}
	}
	return claimed, nil
}

// Sent removes flags by id.
func (o *Outbox) Sent(ctx context.Context, ids []string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := errors.Join(ctx.Err(), o.fault); err != nil {
		return err
	}
	if !o.lost {
		o.flags = slices.DeleteFunc(o.flags, func(f *flag) bool { return slices.Contains(ids, f.ID) })
	}
	return nil
}

// Advance puts the clock forward: flags become due and claims run out.
func (o *Outbox) Advance(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ahead += d
}

// Down makes every call fail with err, until Down(nil).
func (o *Outbox) Down(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fault = err
}

// LoseSent makes Sent say that it removed flags, and keep them, as a process that dies before that is durable.
func (o *Outbox) LoseSent(lose bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost = lose
}

func (o *Outbox) now() time.Time { return time.Now().Add(o.ahead) }
