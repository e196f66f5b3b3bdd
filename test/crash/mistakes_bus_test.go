package crash

import (
	"context"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// ahead publishes messages of one sort only after their ids were taken off the outbox.
type ahead struct {
	saga.Publisher
	p    *process
	ours func(saga.Message) bool
	sent func(ctx context.Context, tx dependency.Tx, ids []string) error
}

func sentFirst(ours func(saga.Message) bool, sent func(context.Context, dependency.Tx, []string) error) func(*process, saga.Publisher) saga.Publisher {
	return func(p *process, inner saga.Publisher) saga.Publisher { return ahead{inner, p, ours, sent} }
}

func (a ahead) Publish(ctx context.Context, messages []saga.Message) []error {
	var ids []string
	for _, m := range messages {
		if a.ours(m) {
			ids = append(ids, idOf(m))
		}
	}
	if len(ids) > 0 {
		err := a.p.graph.Update(ctx, func(tx dependency.Tx) error { return a.sent(ctx, tx, ids) })
		if err != nil {
			errs := make([]error, len(messages))
			for i := range errs {
				errs[i] = err
			}
			return errs
		}
	}
	return a.Publisher.Publish(ctx, messages)
}

func commandMessages(m saga.Message) bool { return strings.Contains(m.Subject, ".command.") }
func eventMessages(m saga.Message) bool   { return strings.Contains(m.Subject, ".event.") }

func removeFlags(ctx context.Context, tx dependency.Tx, ids []string) error {
	return tx.RemoveCommands(ctx, ids)
}
func markSent(ctx context.Context, tx dependency.Tx, ids []string) error {
	return tx.MarkSent(ctx, ids)
}

func idOf(m saga.Message) string {
	envelope, _, err := events.DecodeCommand(m.Data)
	if eventMessages(m) {
		envelope, _, err = events.DecodeEvent(m.Data)
	}
	if err != nil {
		panic(err)
	}
	return envelope.ID
}

// hasty acknowledges what it hands out.
type hasty struct{ saga.Subscriber }

func ackFirst(consumer string) func(string, saga.Subscriber) saga.Subscriber {
	return func(name string, inner saga.Subscriber) saga.Subscriber {
		if name == consumer {
			return hasty{inner}
		}
		return inner
	}
}

func (h hasty) Fetch(ctx context.Context, limit int) (taken []saga.Delivery, err error) {
	deliveries, err := h.Subscriber.Fetch(ctx, limit)
	for _, d := range deliveries {
		if d.Ack(ctx) == nil {
			taken = append(taken, acked{d})
		}
	}
	return taken, err
}

type acked struct{ saga.Delivery }

func (acked) InProgress(context.Context) error           { return nil }
func (acked) Ack(context.Context) error                  { return nil }
func (acked) Later(context.Context, time.Duration) error { return nil }
func (acked) Bury(context.Context, string) error         { return nil }
