package telemetry

import (
	"context"
	"sync"

	"github.com/tombstone-project/tombstone/saga"
)

// Subscriber counts the messages that its worker buries.
func (m *Metrics) Subscriber(s saga.Subscriber) saga.Subscriber { return subscriber{s, m} }

type subscriber struct {
	saga.Subscriber
	m *Metrics
}

func (s subscriber) Fetch(ctx context.Context, max int) ([]saga.Delivery, error) {
	deliveries, err := s.Subscriber.Fetch(ctx, max)
	for i, d := range deliveries {
		deliveries[i] = &delivery{Delivery: d, m: s.m}
	}
	return deliveries, err
}

type delivery struct {
	saga.Delivery
	m    *Metrics
	once sync.Once
}

// Bury counts a letter once, however often that is called.
func (d *delivery) Bury(ctx context.Context, reason string) error {
	err := d.Delivery.Bury(ctx, reason)
	if err == nil {
		d.once.Do(d.m.deadLetters.Inc)
	}
	return err
}
