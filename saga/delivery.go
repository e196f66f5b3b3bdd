package saga

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// delivery is one message on its way through a worker.
type delivery struct {
	*shift
	d       Delivery
	message Message
	attempt int
	log     *slog.Logger
	// alive is when the bus was last told that the message is in hand, as the time since the shift began (no wall clock:
	// that may be set).
	alive atomic.Int64
}

func newDelivery(s *shift, d Delivery) *delivery {
	v := &delivery{shift: s, d: d, message: d.Message(), attempt: d.Attempt()}
	v.log = s.Logger.With("subject", v.message.Subject, "attempt", v.attempt)
	v.seen()
	return v
}

// serve handles the message and ends the delivery.
func (v *delivery) serve(ctx context.Context) {
	busy, idle := context.WithCancel(ctx)
	defer idle()
	go v.stayAlive(busy)
	err := v.guard(func() error { return v.Handle(ctx, v.message, v.attempt) })
	o := Decide(err, v.attempt, v.Backoff)
	switch {
	case ctx.Err() != nil && err != nil:
		o = Outcome{Kind: Later, Attempt: v.attempt, Err: err} // we stop: another process may have it now
	case o.Kind == Later && !v.postponed.add(o.Delay) && v.Park != nil:
		o = o.park(v.Backoff.NextTry(nil))
	case o.Kind == Park && v.Park == nil:
		o.Kind, o.Delay = Later, v.Backoff.max()
	}
	v.settle(context.WithoutCancel(ctx), o)
}

// guard makes a panic of what the service gave us an error like others, so that one message does not end the process.
func (v *delivery) guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler panicked: %v", p)
			v.log.Error("handler panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	return call()
}

// stayAlive tells the bus that the message is in hand, three times in each ack wait, until ctx ends.
func (v *delivery) stayAlive(ctx context.Context) {
	ticks := time.NewTicker(max(v.Subscriber.AckWait()/3, time.Millisecond))
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if v.lost() { // and stays so: a sign now would only keep the message from the next delivery
				return
			}
			if err := v.d.InProgress(ctx); err == nil {
				v.seen()
			} else if ctx.Err() == nil {
				v.log.Debug("cannot tell that the message is in hand", "error", err)
			}
		}
	}
}

// lost tells that the ack wait is over without a sign from us (a frozen process that wakes): the message may be with
// another worker, and a verdict of ours would take it away from that one.
func (v *delivery) lost() bool {
	return time.Since(v.began)-time.Duration(v.alive.Load()) > v.Subscriber.AckWait()
}

func (v *delivery) seen() { v.alive.Store(int64(time.Since(v.began))) }

// settle ends the delivery. Whatever fails here, the message comes again, and its handler meets a repeat.
func (v *delivery) settle(ctx context.Context, o Outcome) {
	if o.Kind != Done && v.lost() {
		v.log.Warn("message was in hand for too long without a sign, it is left to the next delivery", "outcome", o.Kind, "error", o.Err)
		return
	}
	switch o.Kind {
	case Done:
		v.ack(ctx)
	case Later, Leave:
		v.later(ctx, o)
	case Park:
		v.park(ctx, o)
	case Never:
		v.bury(ctx, o)
	}
}

func (v *delivery) ack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := v.d.Ack(ctx); err != nil {
		v.log.Warn("cannot acknowledge, the message comes again", "error", err)
		return
	}
	v.log.Debug("message done")
}

func (v *delivery) later(ctx context.Context, o Outcome) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	v.log.Info("message comes again later", "delay", o.Delay.Round(time.Millisecond), "error", o.Err)
	if err := v.d.Later(ctx, o.Delay); err != nil {
		v.log.Warn("cannot give the message back, it comes again after the ack wait", "error", err)
	}
}

// park reports, and acknowledges only what is reported: else nobody would know of it any more.
func (v *delivery) park(ctx context.Context, o Outcome) {
	report, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := v.guard(func() error { return v.Park(report, v.message, o) }); err != nil {
		v.log.Warn("cannot report that the message is parked", "error", err)
		v.later(ctx, Outcome{Delay: v.Backoff.max(), Err: o.Err})
		return
	}
	v.log.Info("message parked", "blocked", o.Blocked, "part", o.Part, "reason", o.Reason, "next_try", o.NextTry, "error", o.Err)
	v.ack(ctx)
}

func (v *delivery) bury(ctx context.Context, o Outcome) {
	burial, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := v.d.Bury(burial, o.Err.Error()); err != nil {
		v.log.Warn("cannot copy the message to the dead letters", "error", err)
		v.later(ctx, Outcome{Delay: v.Backoff.max(), Err: o.Err})
		return
	}
	v.log.Error("message cannot be read, it is with the dead letters now", "error", o.Err)
}
