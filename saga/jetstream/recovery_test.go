package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/jetstream"
	"github.com/tombstone-project/tombstone/saga/sagatest"
)

// fetching fetches and acknowledges commands in the background, as a worker does: errors are waited out.
type fetching struct {
	mu  sync.Mutex
	got []string
}

func fetchAlways(t *testing.T, bus *jetstream.Bus) *fetching {
	f := &fetching{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			deliveries, err := bus.Commands().Fetch(ctx, 10)
			if err != nil {
				select {
				case <-time.After(50 * time.Millisecond):
				case <-ctx.Done():
				}
			}
			for _, d := range deliveries {
				if d.Ack(ctx) == nil {
					f.mu.Lock()
					f.got = append(f.got, string(d.Message().Data))
					f.mu.Unlock()
				}
			}
		}
	}()
	return f
}

func (f *fetching) has(want ...string) func(context.Context) error {
	return func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, w := range want {
			if !slices.Contains(f.got, w) {
				return fmt.Errorf("want %v, got %v", want, f.got)
			}
		}
		return nil
	}
}

func TestAStartWithoutABrokerFailsFastAndRecoversByItself(t *testing.T) {
	b := startBroker(t)
	b.stop()
	bus := b.bus(names, jetstream.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if errs := bus.Publish(ctx, []saga.Message{command("a"), command("b")}); len(errs) != 2 || errs[0] == nil || errs[1] == nil {
		t.Errorf("Publish: want an error for each, got %v", errs)
	}
	if _, err := bus.Ensure(ctx); err == nil {
		t.Error("Ensure: want an error")
	}
	if err := bus.Ping(ctx); err == nil {
		t.Error("Ping: want an error")
	}
	if _, err := bus.Commands().Fetch(ctx, 1); err == nil || ctx.Err() != nil {
		t.Errorf("Fetch: want an error at once, got %v", err)
	}
	f := fetchAlways(t, bus)
	b.start()
	eventually(t, func(ctx context.Context) error { return published(ctx, bus, command("a")) })
	eventually(t, f.has("a"))
	if err := bus.Ping(ctx); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

func TestARestartOfTheBrokerLosesNothing(t *testing.T) {
	b := startBroker(t)
	var recreated called
	bus := ready(t, b, jetstream.Options{AckWait: 2 * time.Second, OnRecreated: recreated.note})
	recreated.take()
	if err := published(t.Context(), bus, command("before")); err != nil {
		t.Fatal(err)
	}
	inHand, err := bus.Commands().Fetch(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	b.stop()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := inHand[0].Ack(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("Ack without a broker: want an error at once, got %v", err)
	}
	if err := published(ctx, bus, command("meanwhile")); err == nil || ctx.Err() != nil {
		t.Errorf("Publish without a broker: want an error at once, got %v", err)
	}
	f := fetchAlways(t, bus)
	b.start()
	eventually(t, func(ctx context.Context) error { return published(ctx, bus, command("after")) })
	eventually(t, f.has("before", "after"))
	if got := recreated.take(); len(got) != 0 {
		t.Errorf("recreated: want none, got %v", got)
	}
	if err := f.has("meanwhile")(ctx); err == nil {
		t.Error("what could not be published was kept and sent later")
	}
}

// H-09.
func TestAFetchThatWaitsOutlivesARestart(t *testing.T) {
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{})
	f := fetchAlways(t, bus)
	if err := published(t.Context(), bus, command("1")); err != nil {
		t.Fatal(err)
	}
	eventually(t, f.has("1")) // from here it waits
	b.stop()
	b.start()
	eventually(t, func(ctx context.Context) error { return published(ctx, bus, command("2")) })
	eventually(t, f.has("2"))
}

func TestAWipedBrokerIsSetUpAgainAndTheOwnerIsTold(t *testing.T) {
	b := startBroker(t)
	var first, second called
	publisher := ready(t, b, jetstream.Options{OnRecreated: first.note})
	worker := ready(t, b, jetstream.Options{OnRecreated: second.note})
	first.take()
	if got := second.take(); len(got) != 0 {
		t.Errorf("streams that were there already are not made anew: %v", got)
	}
	b.stop()
	b.wipe()
	b.start()
	f := fetchAlways(t, worker) // whoever comes first makes them, the other one notices
	eventually(t, func(ctx context.Context) error { return published(ctx, publisher, command("anew")) })
	eventually(t, f.has("anew"))
	if _, err := publisher.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for who, c := range map[string]*called{"publisher": &first, "worker": &second} {
		if diff := cmp.Diff(streams, c.take()); diff != "" {
			t.Errorf("what the %s was told (-want +got):\n%s", who, diff)
		}
	}
}

func TestAStreamThatIsDeletedComesBackWithTheNextPublish(t *testing.T) {
	b := startBroker(t)
	var recreated called
	bus := ready(t, b, jetstream.Options{OnRecreated: recreated.note})
	recreated.take()
	if err := b.admin().DeleteStream(t.Context(), "TOMBSTONE_COMMANDS"); err != nil {
		t.Fatal(err)
	}
	if err := bus.Purge(t.Context(), []string{command("a").Subject}); err != nil {
		t.Errorf("Purge: nothing waits there, got %v", err)
	}
	if err := published(t.Context(), bus, command("a"), command("b")); err != nil {
		t.Errorf("Publish: %v", err)
	}
	if diff := cmp.Diff([]string{"TOMBSTONE_COMMANDS"}, recreated.take()); diff != "" {
		t.Errorf("recreated (-want +got):\n%s", diff)
	}
}

func TestAConsumerThatIsDeletedComesBackWhileAFetchWaits(t *testing.T) {
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{})
	f := fetchAlways(t, bus)
	if err := published(t.Context(), bus, command("1")); err != nil {
		t.Fatal(err)
	}
	eventually(t, f.has("1"))
	for i := range 3 {
		if err := b.admin().DeleteConsumer(t.Context(), "TOMBSTONE_COMMANDS", "tombstone-erase"); err != nil {
			t.Fatal(err)
		}
		again := fmt.Sprintf("again-%d", i)
		if err := published(t.Context(), bus, command(again)); err != nil {
			t.Fatal(err)
		}
		eventually(t, f.has(again))
	}
}

// H-03.
func TestRelayAndWorkerFinishEverythingOverARestart(t *testing.T) {
	const n = 300
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{AckWait: 2 * time.Second})
	outbox := sagatest.NewOutbox()
	for i := range n {
		asset := fmt.Sprintf("asset-%d", i)
		outbox.Set(saga.Flag{ID: asset, Message: command(asset)})
	}
	var mu sync.Mutex
	handled := map[string]bool{}
	half := make(chan struct{})
	worker := &saga.Worker{Subscriber: bus.Commands(), InFlight: 20, Handle: func(_ context.Context, m saga.Message, _ int) error {
		mu.Lock()
		defer mu.Unlock()
		if handled[string(m.Data)] = true; len(handled) == n/2 {
			close(half)
		}
		return nil
	}}
	relay := saga.NewRelay(saga.RelayConfig{Outbox: outbox, Publisher: bus, Every: 100 * time.Millisecond, Hold: time.Second, Timeout: 900 * time.Millisecond, Page: 50})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = relay.Run(ctx) })
	wg.Go(func() { _ = worker.Run(ctx) })
	defer wg.Wait()
	defer cancel()
	<-half
	b.stop()
	b.start()
	eventually(t, func(ctx context.Context) error {
		mu.Lock()
		missing := n - len(handled)
		mu.Unlock()
		waiting, err := held(ctx, b.admin(), "TOMBSTONE_COMMANDS")
		if missing > 0 || len(waiting) > 0 || len(outbox.Flags()) > 0 {
			return errors.Join(err, fmt.Errorf("%d not handled, %d on the bus, %d flags", missing, len(waiting), len(outbox.Flags())))
		}
		return err
	})
}

func TestConnectSaysWhatIsWrongWithAnAddress(t *testing.T) {
	b := startBroker(t)
	if _, err := jetstream.Connect(jetstream.Connection{URL: "nats://127.0.0.1:" + fmt.Sprint(b.port), Credentials: "/no/such/file.creds"}, nil); err == nil || !strings.Contains(err.Error(), "creds") {
		t.Errorf("a missing credentials file: got %v", err)
	}
	if _, err := jetstream.Connect(jetstream.Connection{URL: "nats://127.0.0.1:port"}, nil); err == nil {
		t.Error("a bad port: want an error")
	}
}
