package fault

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/saga"
)

// delivery wraps saga.Delivery.
type delivery struct {
	saga.Delivery
	from *Subscriber
}

func (d *delivery) call(method string) Call {
	return Call{Port: "delivery", Method: method, Items: 1, About: d.Message().Subject}
}

func (d *delivery) InProgress(ctx context.Context) error {
	return d.from.process.do(ctx, d.call("InProgress"), func(ctx context.Context, _ int) error { return d.Delivery.InProgress(ctx) })
}

// Ack acknowledges. Twice: the broker loses that, and the message comes again.
func (d *delivery) Ack(ctx context.Context) error {
	kind, err := d.from.process.begin(d.call("Ack"))
	if err != nil {
		return err
	}
	if kind == Frozen {
		ctx = context.WithoutCancel(ctx)
	}
	if kind != Lost {
		err = d.Delivery.Ack(ctx)
	}
	if err = d.from.process.finish(kind, err); err == nil && kind == Twice {
		d.from.put(copyOf(d.Delivery))
	}
	return err
}

func (d *delivery) Later(ctx context.Context, delay time.Duration) error {
	return d.from.process.do(ctx, d.call("Later"), func(ctx context.Context, _ int) error { return d.Delivery.Later(ctx, delay) })
}

func (d *delivery) Bury(ctx context.Context, reason string) error {
	return d.from.process.do(ctx, d.call("Bury"), func(ctx context.Context, _ int) error { return d.Delivery.Bury(ctx, reason) })
}

// again is a second delivery of a message. The broker has no record of it, so ending it ends nothing.
type again struct {
	message saga.Message
	attempt int
}

func copyOf(d saga.Delivery) saga.Delivery { return again{d.Message(), d.Attempt() + 1} }

func (a again) Message() saga.Message                      { return a.message }
func (a again) Attempt() int                               { return a.attempt }
func (a again) InProgress(context.Context) error           { return nil }
func (a again) Ack(context.Context) error                  { return nil }
func (a again) Later(context.Context, time.Duration) error { return nil }
func (a again) Bury(context.Context, string) error         { return nil }
