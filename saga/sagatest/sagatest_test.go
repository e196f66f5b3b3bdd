package sagatest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/sagatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheBusInMemoryKeepsTheContract(t *testing.T) {
	sagatest.TestBus(t, func(_ *testing.T, ackWait time.Duration) sagatest.BusUnderTest {
		names := events.Names{Namespace: "in-memory"}
		b := sagatest.NewBus(sagatest.BusConfig{Names: names, AckWait: ackWait})
		return sagatest.BusUnderTest{Names: names, Publisher: b, Commands: b.Commands(), Reports: b.Reports(),
			Messages: func(_ context.Context, stream string) ([]saga.Message, error) { return b.Messages(stream), nil }}
	})
}

func TestTheOutboxInMemoryKeepsTheContract(t *testing.T) {
	sagatest.TestOutbox(t, func(*testing.T) sagatest.OutboxUnderTest {
		o := sagatest.NewOutbox()
		n := 0
		return sagatest.OutboxUnderTest{Outbox: o, Advance: o.Advance,
			Set: func(_ *testing.T, name string, replace bool) string {
				n++
				f := saga.Flag{ID: fmt.Sprintf("flag-%d", n), Replace: replace, Message: saga.Message{Subject: "subject." + name}}
				o.Set(f)
				return f.ID
			}}
	})
}
