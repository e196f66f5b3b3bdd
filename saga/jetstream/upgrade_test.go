package jetstream_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	driver "github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/jetstream"
)

// older makes the streams as another version may have had them: fewer rules, and consumers that give up.
func older(t *testing.T, b *broker) {
	t.Helper()
	admin := b.admin()
	for _, q := range []struct {
		stream   events.Stream
		consumer string
	}{{names.Commands(), names.EraseConsumer()}, {names.Reports(), names.ReportConsumer()}, {names.Events(), ""}, {names.Dead(), ""}} {
		c := driver.StreamConfig{Name: q.stream.Name, Subjects: []string{q.stream.Subjects}}
		if q.consumer != "" {
			c.Retention = driver.WorkQueuePolicy
		}
		stream, err := admin.CreateStream(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if q.consumer == "" {
			continue
		}
		if _, err := stream.CreateConsumer(t.Context(), driver.ConsumerConfig{Durable: q.consumer, AckPolicy: driver.AckExplicitPolicy,
			AckWait: 10 * time.Second, MaxDeliver: 3}); err != nil {
			t.Fatal(err)
		}
	}
}

// waiting puts messages on every stream, and gives how many each holds.
func waiting(t *testing.T, b *broker) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for i := range 50 {
		asset := fmt.Sprint(i)
		for stream, subject := range map[events.Stream]string{
			names.Commands(): names.Command("d-1", asset), names.Reports(): names.Report(events.TypeAssetErased, asset),
			names.Events(): names.Event(events.TypeAssetErased, asset), names.Dead(): names.DeadLetter(names.Command("d-1", asset)),
		} {
			if _, err := b.admin().Publish(t.Context(), subject, []byte(asset)); err != nil {
				t.Fatal(err)
			}
			counts[stream.Name]++
		}
	}
	return counts
}

// H-10. What waits on the streams of another version stays, and is handed out, whoever corrects the settings, and however
// many do at once.
func TestOlderStreamsAreTakenOverByManyAtOnceWithWhatWaits(t *testing.T) {
	b := startBroker(t)
	older(t, b)
	counts := waiting(t, b)
	var replicas sync.WaitGroup
	buses := make([]*jetstream.Bus, 6)
	for i := range buses {
		buses[i] = b.bus(names, jetstream.Options{})
		replicas.Go(func() {
			if _, err := buses[i].Ensure(t.Context()); err != nil {
				t.Errorf("Ensure: %v", err)
			}
		})
	}
	replicas.Wait()
	for name, want := range counts {
		if got, err := held(t.Context(), b.admin(), name); err != nil || len(got) != want {
			t.Errorf("%s holds %d messages, want %d, %v", name, len(got), want, err)
		}
	}
	for what, s := range map[string]saga.Subscriber{"commands": buses[0].Commands(), "reports": buses[5].Reports()} {
		if got := drain(t, s); got != 50 {
			t.Errorf("%d %s are handed out, want 50", got, what)
		}
	}
	for _, name := range []string{names.EraseConsumer(), names.ReportConsumer()} {
		stream := names.Commands().Name
		if name == names.ReportConsumer() {
			stream = names.Reports().Name
		}
		consumer, err := b.admin().Consumer(t.Context(), stream, name)
		if err != nil || consumer.CachedInfo().Config.MaxDeliver != -1 {
			t.Errorf("consumer %s after all: %+v, %v", name, consumer, err)
		}
	}
}

// drain acknowledges everything that a consumer hands out, until nothing has come for a while.
func drain(t *testing.T, s saga.Subscriber) (n int) {
	t.Helper()
	for n < 50 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		got, err := s.Fetch(ctx, 50)
		cancel()
		if err != nil {
			t.Fatalf("after %d: %v", n, err)
		}
		for _, d := range got {
			if err := d.Ack(t.Context()); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	return n
}

// Two versions with other settings run side by side: each corrects what the other one set, while both have messages in
// hand. Everything is acknowledged in the end.
func TestVersionsThatWantOtherSettingsStrandNothing(t *testing.T) {
	const n = 120
	b := startBroker(t)
	versions := []*jetstream.Bus{
		ready(t, b, jetstream.Options{AckWait: 2 * time.Second, MaxAckPending: 40}),
		ready(t, b, jetstream.Options{AckWait: 3 * time.Second, EventsMaxAge: time.Hour}),
	}
	for i := range n {
		if err := published(t.Context(), versions[i%2], command(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	for i, bus := range versions {
		workers.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				got, err := bus.Commands().Fetch(ctx, 5)
				if err != nil {
					continue // it is asked again
				}
				if round%3 == i { // with these in hand
					_, _ = bus.Ensure(ctx)
				}
				for _, d := range got {
					_ = d.Ack(ctx) // one that is not acknowledged comes again
				}
			}
		})
	}
	eventually(t, func(ctx context.Context) error {
		left, err := held(ctx, b.admin(), names.Commands().Name)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d commands are left", len(left))
		}
		return err
	})
}
