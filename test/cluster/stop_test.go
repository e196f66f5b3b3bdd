package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// gracefulStop asks processes to end while they have a lot in hand. Each must end well within its deadline; what it had in
// hand is finished or given back, and the other process of its role goes on. Resending is set so rare that it does not help.
func gracefulStop(t *testing.T, binary string) {
	const inFlight = 150
	s := stores.Containers(t)
	c := New(t, binary, s, time.Hour)
	dep, other := c.Start(Dependency, s), c.Start(Dependency, s)
	wire := NewWire(t, Address(t, s, Blobs))
	worker := c.Start(Asset, Through(t, s, Blobs, wire.Address))
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "bystander")
	var assets []dependency.Asset
	for i := range 10 {
		assets = append(assets, filled(t, l, fmt.Sprintf("full-%d", i)))
	}
	assets = append(assets, importMany(t, l, "many", inFlight)...)

	worker.Stop() // so that all that is accepted waits for it, however long that takes
	accepted := make(chan struct{})
	go func() { defer close(accepted); deleteAll(t, l, assets) }()
	awaitCommands(t, s, inFlight/5)
	dep.Stop() // clients go to the other
	<-accepted

	// One listing is not answered: what waits for it cannot be finished within the grace, the rest can.
	trap := wire.Arm(Point{Sent: []string{"encoding-type=url"}, Answer: AnyAnswer})
	worker.Restart()
	awaitCaught(t, trap)
	worker.Stop()
	checkGivenBack(t, s)
	trap.Drop()
	c.Start(Asset, s)
	awaitAll(t, l, assets)
	for _, a := range assets {
		if left, err := l.left(t.Context(), a); err != nil || len(left) > 0 {
			t.Errorf("G3: %s is deleted, and %v is there, %v", a.ID, left, err)
		}
	}
	invariants.Check(t, invariants.World{API: other.Client, URL: other.URL, Stores: s}, l.known())
}

// awaitCommands waits until the broker has so many commands.
func awaitCommands(t *testing.T, s *stores.Stores, n uint64) {
	t.Helper()
	onBroker(t, s, func(js jetstream.JetStream, names events.Names) error {
		stream, err := js.Stream(t.Context(), names.Commands().Name)
		if err != nil {
			return err
		}
		return eventually(t.Context(), func() error {
			info, err := stream.Info(t.Context())
			if err == nil && info.State.Msgs < n {
				err = fmt.Errorf("the broker has %d commands of %d", info.State.Msgs, n)
			}
			return err
		})
	})
}

// checkGivenBack wants the broker to hand out every command that is left at once: one that a worker has kept would come
// again only after the ack wait. Then it gives them back itself.
func checkGivenBack(t *testing.T, s *stores.Stores) {
	t.Helper()
	onBroker(t, s, func(js jetstream.JetStream, names events.Names) error {
		consumer, err := js.Consumer(t.Context(), names.Commands().Name, names.EraseConsumer())
		if err != nil {
			return err
		}
		left := int(consumer.CachedInfo().NumPending) + consumer.CachedInfo().NumAckPending
		batch, err := consumer.FetchNoWait(left + 1)
		if err != nil {
			return err
		}
		free := 0
		for m := range batch.Messages() {
			free++
			if err := m.Nak(); err != nil {
				return err
			}
		}
		t.Logf("the worker has ended: %d commands are left", left)
		if left == 0 || free < left {
			t.Errorf("of %d commands that are left the broker hands out %d", left, free)
		}
		return js.Conn().Flush()
	})
}
