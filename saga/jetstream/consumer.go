package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// heartbeat is how often the broker says that a fetch which waits is not forgotten. Two in a row that are missing end the
// fetch, so that it is asked for again: a restarted broker does not know it any more.
const heartbeat = 2 * time.Second

// consumer is one durable consumer; any number of fetches, here and in other processes, share it.
type consumer struct {
	b      *Bus
	stream events.Stream
	name   string

	mu     sync.Mutex
	handle jetstream.Consumer // nil: to be asked for
}

// Commands is the consumer of the erase commands.
func (b *Bus) Commands() saga.Subscriber {
	return &consumer{b: b, stream: b.names.Commands(), name: b.names.EraseConsumer()}
}

// Reports is the consumer of the reports.
func (b *Bus) Reports() saga.Subscriber {
	return &consumer{b: b, stream: b.names.Reports(), name: b.names.ReportConsumer()}
}

// AckWait is as in the options.
func (c *consumer) AckWait() time.Duration { return c.b.AckWait }

// Fetch takes what is there, or waits for the first message to come. A stream or consumer that is missing is made anew.
func (c *consumer) Fetch(ctx context.Context, max int) ([]saga.Delivery, error) {
	for mended := false; ctx.Err() == nil; {
		deliveries, err := c.fetch(ctx, max)
		if len(deliveries) > 0 {
			return deliveries, nil
		}
		if err != nil {
			c.forget()
		}
		if !mended && (missing(err) || errors.Is(err, nats.ErrNoResponders)) {
			mended = true
			_, err = c.b.Ensure(ctx)
		}
		if err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("fetch from %s: %w", c.name, err)
		}
	}
	return nil, ctx.Err()
}

// fetch is one try: everything that is there now, up to max; else the next message. Without either it gives nothing after
// a while.
func (c *consumer) fetch(ctx context.Context, max int) ([]saga.Delivery, error) {
	if !c.b.nc.IsConnected() {
		return nil, errAway
	}
	consumer, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	deliveries, err := c.read(consumer.FetchNoWait(max))
	if len(deliveries) > 0 || err != nil {
		return deliveries, err
	}
	// Of ctx only the end: its deadline would become the time that the broker waits, which must not be short.
	wait, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	deliveries, err = c.read(consumer.Fetch(1, jetstream.FetchContext(wait), jetstream.FetchHeartbeat(heartbeat)))
	if errors.Is(err, jetstream.ErrNoHeartbeat) {
		err = nil
	}
	return deliveries, err
}

// open asks for the consumer, once.
func (c *consumer) open(ctx context.Context) (jetstream.Consumer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handle != nil {
		return c.handle, nil
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	handle, err := c.b.js.Consumer(ctx, c.stream.Name, c.name)
	if err == nil {
		c.handle = handle
	}
	return handle, err
}

func (c *consumer) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handle = nil
}

// read takes the messages of one answer of the broker.
func (c *consumer) read(batch jetstream.MessageBatch, err error) ([]saga.Delivery, error) {
	if err != nil {
		return nil, err
	}
	var deliveries []saga.Delivery
	for msg := range batch.Messages() {
		deliveries = append(deliveries, &delivery{b: c.b, msg: msg})
	}
	return deliveries, batch.Error()
}
