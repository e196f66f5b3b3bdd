package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// forgottenLedger loses the ledger while deletions run, and later puts an older copy in its place; each time a worker is in
// the middle of an erasure, is killed, and begins anew. Assets that live again are there meanwhile, and old commands come
// once more. Evidence may then count less than there was; nothing else may be wrong.
func forgottenLedger(t *testing.T, binary string) {
	s := stores.Containers(t)
	c := New(t, binary, s, 2*time.Second)
	dep := c.Start(Dependency, s)
	wire := NewWire(t, Address(t, s, Blobs))
	worker := c.Start(Asset, Through(t, s, Blobs, wire.Address))
	c.AwaitReady()
	l := newLoad(c)
	l.facts.LedgerLost = true
	filled(t, l, "bystander")
	old := lives(t, l, "phoenix")
	copied, err := s.Ledger(t.Context())
	if err != nil || len(copied) == 0 {
		t.Fatalf("the ledger has %d records, %v", len(copied), err)
	}
	older := lives(t, l, "second-phoenix")

	for name, records := range map[string]int{"lost": 0, "older": len(copied)} {
		var assets []dependency.Asset
		for i := range 12 {
			assets = append(assets, filled(t, l, fmt.Sprintf("%s-%d", name, i)))
		}
		trap := wire.Arm(Point{Sent: []string{"POST /" + s.Bucket + "?delete"}, Answer: AnyAnswer})
		deleteAll(t, l, assets)
		awaitCaught(t, trap)
		worker.Kill()
		trap.Drop()
		if err := s.SetLedger(t.Context(), copied[:records]); err != nil {
			t.Fatal(err)
		}
		worker.Restart()
		sendAgain(t, s, old, older)
		awaitAll(t, l, assets)
	}
	awaitQuiet(t, s)
	invariants.Check(t, invariants.World{API: dep.Client, URL: dep.URL, Stores: s}, l.known())
}

// command is an erase command that was carried out.
type command struct {
	asset    dependency.Asset
	deletion string
}

// lives makes an asset, deletes it, and makes it again with everything in it. It gives the command of its first life.
func lives(t *testing.T, l *load, id string) command {
	t.Helper()
	first := filled(t, l, id)
	d, err := l.delete(t.Context(), []dependency.Asset{first}, dependency.DeleteRequest{})
	if err == nil {
		err = l.await(t.Context(), d.ID, []dependency.Asset{first})
	}
	if err != nil {
		t.Fatal(err)
	}
	filled(t, l, id)
	return command{first, d.ID}
}

// sendAgain publishes old commands as they were.
func sendAgain(t *testing.T, s *stores.Stores, commands ...command) {
	t.Helper()
	onBroker(t, s, func(js jetstream.JetStream, names events.Names) error {
		for _, c := range commands {
			data, err := events.Encode(events.Envelope{ID: c.deletion, Source: "/test", Type: events.TypeErase, Time: time.Now().UTC()},
				events.Erase{Deletion: c.deletion, Asset: c.asset.ID, Kind: c.asset.Kind, Owner: c.asset.Owner, Generation: c.asset.Generation, By: "test"})
			if err != nil {
				return err
			}
			signed := saga.Sign(saga.Message{Subject: names.Command(c.deletion, c.asset.ID), Data: data}, events.Keys{messageKey})
			header := nats.Header{events.HeaderSignature: {signed.Header[events.HeaderSignature]}}
			if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: signed.Subject, Header: header, Data: data}); err != nil {
				return err
			}
		}
		return nil
	})
}

// awaitQuiet waits until no command is left with the broker.
func awaitQuiet(t *testing.T, s *stores.Stores) {
	t.Helper()
	onBroker(t, s, func(js jetstream.JetStream, names events.Names) error {
		return eventually(t.Context(), func() error {
			stream, err := js.Stream(t.Context(), names.Commands().Name)
			if err == nil && stream.CachedInfo().State.Msgs > 0 {
				err = fmt.Errorf("%d commands are left", stream.CachedInfo().State.Msgs)
			}
			return err
		})
	})
}

func onBroker(t *testing.T, s *stores.Stores, do func(js jetstream.JetStream, names events.Names) error) {
	t.Helper()
	nc, err := nats.Connect(s.NATS)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err == nil {
		err = do(js, events.Names{Namespace: s.Namespace})
	}
	if err != nil {
		t.Fatal(err)
	}
}
