package crash

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset"
)

// gateway is the gate over the network: whichever dependency process runs answers, and the asker does not wait for ever.
type gateway struct {
	asset.Gate // nil: no erasure asks for rights
	w          *world
}

var errNobody = errors.New("nobody answers")

func (g gateway) Current(ctx context.Context, questions []events.Question) ([]events.Answer, error) {
	deps := g.w.serving()
	if deps == nil {
		return nil, errNobody
	}
	return impatient(ctx, func() ([]events.Answer, error) { return deps.Current(context.WithoutCancel(ctx), questions) })
}

// outbox notes when flags are found that should have been sent before.
type outbox struct {
	saga.Outbox
	w *world
}

func (o outbox) Claim(ctx context.Context, limit int, hold time.Duration) ([]saga.Flag, error) {
	flags, err := o.Outbox.Claim(ctx, limit, hold)
	for _, f := range flags {
		if f.Replace {
			o.w.note(r2)
		} else {
			o.w.note(r1)
		}
	}
	return flags, err
}

// counted notes when a message comes again.
type counted struct {
	saga.Subscriber
	w *world
}

func (c counted) Fetch(ctx context.Context, limit int) ([]saga.Delivery, error) {
	deliveries, err := c.Subscriber.Fetch(ctx, limit)
	for _, d := range deliveries {
		if d.Attempt() > 1 {
			c.w.note(redelivery)
		}
	}
	return deliveries, err
}

// tap is the bus, and remembers the work that was put on it.
type tap struct {
	bus
	w *world
}

func (b tap) Publish(ctx context.Context, messages []saga.Message) []error {
	b.w.mu.Lock()
	for _, m := range messages {
		if !strings.Contains(m.Subject, ".event.") {
			b.w.work[m.Subject] = m
		}
	}
	b.w.mu.Unlock()
	return b.bus.Publish(ctx, messages)
}

// impatient makes a call over the network: when ctx ends, the caller waits no longer for whoever was to answer.
func impatient[R any](ctx context.Context, call func() (R, error)) (R, error) {
	type reply struct {
		answer R
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		answer, err := call()
		replies <- reply{answer, err}
	}()
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-ctx.Done():
		var none R
		return none, ctx.Err()
	}
}
