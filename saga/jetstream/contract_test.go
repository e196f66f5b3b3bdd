package jetstream_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/jetstream"
	"github.com/tombstone-project/tombstone/saga/sagatest"
)

func TestJetStreamKeepsTheContractOfABus(t *testing.T) {
	b := startBroker(t)
	var namespaces atomic.Int64
	sagatest.TestBus(t, func(t *testing.T, ackWait time.Duration) sagatest.BusUnderTest {
		b := &broker{t: t, port: b.port}
		names := events.Names{Namespace: fmt.Sprintf("space-%d", namespaces.Add(1))}
		bus := b.bus(names, jetstream.Options{AckWait: ackWait})
		admin := b.admin()
		eventually(t, func(ctx context.Context) error { _, err := bus.Ensure(ctx); return err })
		return sagatest.BusUnderTest{Names: names, Publisher: bus, Commands: bus.Commands(), Reports: bus.Reports(),
			Messages: func(ctx context.Context, stream string) ([]saga.Message, error) { return held(ctx, admin, stream) }}
	})
}
