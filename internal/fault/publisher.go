package fault

import (
	"context"

	"github.com/tombstone-project/tombstone/saga"
)

// Publisher wraps saga.Publisher.
type Publisher struct {
	inner   saga.Publisher
	process *Process
}

// NewPublisher makes the bus as the process publishes to it.
func NewPublisher(p *Process, inner saga.Publisher) *Publisher { return &Publisher{inner, p} }

// Publish wraps the handing over of messages.
func (p *Publisher) Publish(ctx context.Context, messages []saga.Message) []error {
	if len(messages) == 0 {
		return p.inner.Publish(ctx, messages)
	}
	call := Call{Port: "publisher", Method: "Publish", Items: len(messages), About: messages[0].Subject}
	return p.process.each(ctx, call, func(ctx context.Context, items int) []error {
		return p.inner.Publish(ctx, messages[:items])
	})
}

// Purge wraps the removal of what waits.
func (p *Publisher) Purge(ctx context.Context, subjects []string) error {
	if len(subjects) == 0 {
		return p.inner.Purge(ctx, subjects)
	}
	call := Call{Port: "publisher", Method: "Purge", Items: len(subjects), About: subjects[0]}
	return p.process.do(ctx, call, func(ctx context.Context, items int) error { return p.inner.Purge(ctx, subjects[:items]) })
}
