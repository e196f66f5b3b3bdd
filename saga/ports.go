package saga

import (
	"context"
	"time"
)

// Message is what travels over the bus.
type Message struct {
	Subject string
	Header  map[string]string
	Data    []byte
}

// Publisher hands messages to the bus.
type Publisher interface {
	// Publish sends all messages and waits until the bus has taken each of them durably, or ctx ends. errs has one entry
	// a message; nil also when a copy with the same subject still waits on a stream that keeps one a subject, which
	// counts as sent. A non-nil entry means "not known to be taken": it may have been taken all the same.
	Publish(ctx context.Context, messages []Message) (errs []error)
	// Purge removes what waits on exactly these subjects, so that a copy can be published anew. Subjects on which
	// nothing waits are fine.
	Purge(ctx context.Context, subjects []string) error
}

// Delivery is one message handed to a worker. Exactly one of Ack, Later and Bury ends it; each may be called again
// without effect. A delivery that is never ended comes again after the consumer's ack wait.
type Delivery interface {
	Message() Message
	// Attempt counts from 1.
	Attempt() int
	// InProgress restarts the ack wait.
	InProgress(ctx context.Context) error
	// Ack removes the message and waits until the bus has noted it.
	Ack(ctx context.Context) error
	// Later gives the message back; it comes again after the delay.
	Later(ctx context.Context, delay time.Duration) error
	// Bury copies the message to the dead letters with the reason and then removes it.
	Bury(ctx context.Context, reason string) error
}

// Subscriber takes messages from one durable consumer.
type Subscriber interface {
	// Fetch waits for at least one message, or until ctx ends, and gives up to max. It returns ctx.Err() when ctx ended,
	// and other errors only for a fault that the caller should wait out; it has then lost nothing.
	Fetch(ctx context.Context, max int) ([]Delivery, error)
	// AckWait is the consumer's, so that the worker knows how often to say that it is still busy.
	AckWait() time.Duration
}

// Flag is one message that is to be published, kept in the outbox until the bus has it.
type Flag struct {
	ID string // of this flag; a flag set again for the same command has another
	// Replace asks to purge the subject first: a copy waits there without any progress.
	Replace bool
	Message Message
}

// Outbox keeps what is to be published, in the same store and transaction as the change that it tells of.
type Outbox interface {
	// Claim takes up to max flags that are due and that nobody has claimed (or whose claim has expired), oldest first,
	// for the time given, and makes whatever must be true before they may be published. Empty: nothing is due.
	Claim(ctx context.Context, max int, hold time.Duration) ([]Flag, error)
	// Sent removes flags by their ids. Unknown ids are fine. It may return before the removal is durable; a flag that is
	// still there after a crash is published again, which is harmless.
	Sent(ctx context.Context, ids []string) error
}
