package jetstream_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	driver "github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/jetstream"
)

var (
	names   = events.Names{}
	streams = []string{"TOMBSTONE_COMMANDS", "TOMBSTONE_REPORTS", "TOMBSTONE_EVENTS", "TOMBSTONE_DEAD"}
)

func command(asset string) saga.Message {
	return saga.Message{Subject: names.Command("d-1", asset), Data: []byte(asset)}
}

// ready makes a bus and its streams.
func ready(t *testing.T, b *broker, o jetstream.Options) *jetstream.Bus {
	t.Helper()
	bus := b.bus(names, o)
	eventually(t, func(ctx context.Context) error { _, err := bus.Ensure(ctx); return err })
	return bus
}

// H-07, H-08, H-23.
func TestStreamsAreAsInTheContract(t *testing.T) {
	b := startBroker(t)
	bus := b.bus(names, jetstream.Options{EventsMaxAge: 48 * time.Hour})
	var created []string
	eventually(t, func(ctx context.Context) (err error) { created, err = bus.Ensure(ctx); return err })
	if diff := cmp.Diff(streams, created); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	type settings struct {
		Subjects   []string
		Retention  driver.RetentionPolicy
		Storage    driver.StorageType
		PerSubject int64
		Discard    driver.DiscardPolicy
		NewPer     bool
		MaxAge     time.Duration
		Deny       bool
		Replicas   int
	}
	admin := b.admin()
	for name, want := range map[string]settings{
		"TOMBSTONE_COMMANDS": {Subjects: []string{"tombstone.command.>"}, Retention: driver.WorkQueuePolicy, PerSubject: 1, Discard: driver.DiscardNew, NewPer: true},
		"TOMBSTONE_REPORTS":  {Subjects: []string{"tombstone.report.>"}, Retention: driver.WorkQueuePolicy, PerSubject: -1},
		"TOMBSTONE_EVENTS":   {Subjects: []string{"tombstone.event.>"}, PerSubject: -1, MaxAge: 48 * time.Hour, Deny: true},
		"TOMBSTONE_DEAD":     {Subjects: []string{"tombstone.dead.>"}, PerSubject: -1},
	} {
		want.Storage, want.Replicas = driver.FileStorage, 1
		stream, err := admin.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		c := stream.CachedInfo().Config
		got := settings{c.Subjects, c.Retention, c.Storage, c.MaxMsgsPerSubject, c.Discard, c.DiscardNewPerSubject, c.MaxAge, c.DenyDelete && c.DenyPurge, c.Replicas}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for stream, name := range map[string]string{"TOMBSTONE_COMMANDS": "tombstone-erase", "TOMBSTONE_REPORTS": "tombstone-report"} {
		consumer, err := admin.Consumer(t.Context(), stream, name)
		if err != nil {
			t.Fatal(err)
		}
		c := consumer.CachedInfo().Config
		if c.AckPolicy != driver.AckExplicitPolicy || c.AckWait != 30*time.Second || c.MaxDeliver != -1 || c.MaxAckPending != 4096 || len(c.BackOff) != 0 {
			t.Errorf("consumer %s: %+v", name, c)
		}
	}
	if created, err := bus.Ensure(t.Context()); err != nil || len(created) != 0 {
		t.Errorf("a repeat: want nothing made, got %v, %v", created, err)
	}
	if err := bus.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
	if made, err := bus.Made(t.Context()); err != nil || len(made) != 4 || made["TOMBSTONE_EVENTS"].IsZero() {
		t.Errorf("Made: %v, %v", made, err)
	}
}

// A stream without a work queue's rule stands in for a killed broker, which may keep what was acknowledged.
func TestWhatABrokerKeptOfTheAcknowledgedIsRemovedAndTheRestStays(t *testing.T) {
	b := startBroker(t)
	admin := b.admin()
	stream, err := admin.CreateStream(t.Context(), driver.StreamConfig{Name: "KEPT", Subjects: []string{"kept.*"}})
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := stream.CreateConsumer(t.Context(), driver.ConsumerConfig{Durable: "worker", AckPolicy: driver.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	left := func() uint64 {
		t.Helper()
		if err := jetstream.RemoveAcknowledged(t.Context(), admin, "KEPT", "worker"); err != nil {
			t.Fatal(err)
		}
		info, err := stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Msgs
	}
	if n := left(); n != 0 {
		t.Errorf("of an empty stream: want nothing, got %d", n)
	}
	for i := range 5 {
		if _, err := admin.Publish(t.Context(), fmt.Sprintf("kept.%d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := left(); n != 5 {
		t.Errorf("nothing is acknowledged: want all 5, got %d", n)
	}
	for _, acknowledge := range []bool{true, true, false, true} {
		msg, err := consumer.Next()
		if err != nil {
			t.Fatal(err)
		}
		if acknowledge {
			if err := msg.DoubleAck(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := left(); n != 3 {
		t.Errorf("the first two are acknowledged, and one behind another that is not: want 3, got %d", n)
	}
}

func TestWhatABrokerKeptGoesWithoutARestartOfOurs(t *testing.T) {
	b := startBroker(t)
	admin := b.admin()
	bus := b.bus(names, jetstream.Options{})
	if err := bus.RemoveAcknowledged(t.Context()); err != nil {
		t.Errorf("without any stream: %v", err)
	}
	for _, q := range []struct {
		stream   events.Stream
		consumer string
	}{{names.Commands(), names.EraseConsumer()}, {names.Reports(), names.ReportConsumer()}} {
		stream, err := admin.CreateStream(t.Context(), driver.StreamConfig{Name: q.stream.Name, Subjects: []string{q.stream.Subjects}}) // keeps all
		if err != nil {
			t.Fatal(err)
		}
		consumer, err := stream.CreateConsumer(t.Context(), driver.ConsumerConfig{Durable: q.consumer, AckPolicy: driver.AckExplicitPolicy})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if _, err := admin.Publish(t.Context(), strings.Replace(q.stream.Subjects, ">", fmt.Sprint(i), 1), nil); err != nil {
				t.Fatal(err)
			}
		}
		msg, err := consumer.Next()
		if err == nil {
			err = msg.DoubleAck(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := bus.RemoveAcknowledged(t.Context()); err != nil {
			t.Fatal(err)
		}
		if info, err := stream.Info(t.Context()); err != nil || info.State.Msgs != 2 || info.State.FirstSeq != 2 {
			t.Errorf("%s: %+v, %v; want the two that are not acknowledged", q.stream.Name, info.State, err)
		}
	}
}

func TestSeveralProcessesMayEnsureAtOnce(t *testing.T) {
	b := startBroker(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var created []string
	for range 6 {
		bus := b.bus(names, jetstream.Options{})
		wg.Go(func() {
			made, err := bus.Ensure(t.Context())
			if err != nil {
				t.Errorf("Ensure: %v", err)
			}
			mu.Lock()
			created = append(created, made...)
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.Sort(created)
	if got := slices.Compact(created); len(got) != 4 {
		t.Errorf("made by somebody: want all four streams, got %v", got)
	}
}

func TestOtherSettingsAreCorrectedAndWhatWaitsStays(t *testing.T) {
	b := startBroker(t)
	admin := b.admin()
	if _, err := admin.CreateStream(t.Context(), driver.StreamConfig{Name: "TOMBSTONE_COMMANDS", Subjects: []string{"tombstone.command.erase.*.*"},
		Retention: driver.WorkQueuePolicy, MaxBytes: 1 << 20, Description: "the operator's own"}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Publish(t.Context(), command("old").Subject, command("old").Data); err != nil {
		t.Fatal(err)
	}
	bus := b.bus(names, jetstream.Options{})
	created, err := bus.Ensure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(streams[1:], created); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	stream, err := admin.Stream(t.Context(), "TOMBSTONE_COMMANDS")
	if err != nil {
		t.Fatal(err)
	}
	c := stream.CachedInfo().Config
	if c.MaxMsgsPerSubject != 1 || !c.DiscardNewPerSubject || c.Subjects[0] != "tombstone.command.>" {
		t.Errorf("not corrected: %+v", c)
	}
	if c.MaxBytes != 1<<20 || c.Description != "the operator's own" {
		t.Errorf("the operator's settings are lost: %+v", c)
	}
	got, err := held(t.Context(), admin, "TOMBSTONE_COMMANDS")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]saga.Message{command("old")}, got); diff != "" {
		t.Errorf("what waited (-want +got):\n%s", diff)
	}
}

func TestSettingsThatCannotBeCorrectedAreAnError(t *testing.T) {
	b := startBroker(t)
	if _, err := b.admin().CreateStream(t.Context(), driver.StreamConfig{Name: "TOMBSTONE_REPORTS", Subjects: []string{"tombstone.report.>"},
		Storage: driver.MemoryStorage, Retention: driver.WorkQueuePolicy}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.bus(names, jetstream.Options{}).Ensure(t.Context()); err == nil {
		t.Error("want an error for a work queue in memory")
	}
}

// H-06.
func TestAConsumerWithOtherSettingsIsCorrected(t *testing.T) {
	for name, wrong := range map[string]driver.ConsumerConfig{
		"an ack wait of a nanosecond":   {AckPolicy: driver.AckExplicitPolicy, AckWait: 1, MaxAckPending: 4096},
		"a limit of deliveries":         {AckPolicy: driver.AckExplicitPolicy, AckWait: 30 * time.Second, MaxDeliver: 1, MaxAckPending: 4096},
		"a back-off list":               {AckPolicy: driver.AckExplicitPolicy, MaxDeliver: 5, BackOff: []time.Duration{time.Second, time.Minute}},
		"few messages at the same time": {AckPolicy: driver.AckExplicitPolicy, AckWait: 30 * time.Second, MaxAckPending: 1},
		"a filter":                      {AckPolicy: driver.AckExplicitPolicy, FilterSubject: "tombstone.command.other.>"},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBroker(t)
			bus := ready(t, b, jetstream.Options{})
			admin := b.admin()
			if err := admin.DeleteConsumer(t.Context(), "TOMBSTONE_COMMANDS", "tombstone-erase"); err != nil {
				t.Fatal(err)
			}
			wrong.Durable = "tombstone-erase"
			if _, err := admin.CreateConsumer(t.Context(), "TOMBSTONE_COMMANDS", wrong); err != nil {
				t.Fatal(err)
			}
			if _, err := bus.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			consumer, err := admin.Consumer(t.Context(), "TOMBSTONE_COMMANDS", "tombstone-erase")
			if err != nil {
				t.Fatal(err)
			}
			c := consumer.CachedInfo().Config
			if c.AckWait != 30*time.Second || c.MaxDeliver != -1 || c.MaxAckPending != 4096 || len(c.BackOff) != 0 || c.FilterSubject != "" {
				t.Errorf("consumer: %+v", c)
			}
		})
	}
}

func TestAPushConsumerInTheWayIsReplaced(t *testing.T) {
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{})
	admin := b.admin()
	if err := admin.DeleteConsumer(t.Context(), "TOMBSTONE_COMMANDS", "tombstone-erase"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CreatePushConsumer(t.Context(), "TOMBSTONE_COMMANDS", driver.ConsumerConfig{Durable: "tombstone-erase",
		DeliverSubject: "somewhere", AckPolicy: driver.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := published(t.Context(), bus, command("a")); err != nil {
		t.Fatal(err)
	}
	fetchOne(t, bus, "a")
}

// H-10.
func TestMessagesStrandedAboveALimitOfDeliveriesComeAgain(t *testing.T) {
	b := startBroker(t)
	bus := ready(t, b, jetstream.Options{AckWait: time.Second})
	admin := b.admin()
	if err := admin.DeleteConsumer(t.Context(), "TOMBSTONE_COMMANDS", "tombstone-erase"); err != nil {
		t.Fatal(err)
	}
	limited, err := admin.CreateConsumer(t.Context(), "TOMBSTONE_COMMANDS", driver.ConsumerConfig{Durable: "tombstone-erase",
		AckPolicy: driver.AckExplicitPolicy, AckWait: time.Second, MaxDeliver: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := published(t.Context(), bus, command("stranded")); err != nil {
		t.Fatal(err)
	}
	msg, err := limited.Next()
	if err != nil {
		t.Fatal(err)
	}
	if err := msg.Nak(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error { // until the broker has found out that it may not offer it again
		batch, err := limited.FetchNoWait(1)
		if err != nil {
			return err
		}
		if msg := <-batch.Messages(); msg != nil {
			t.Error("it was offered above its limit")
		}
		info, err := limited.Info(ctx)
		if err == nil && info.NumAckPending > 0 {
			err = fmt.Errorf("still pending: %+v", info)
		}
		return err
	})
	if _, err := bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	fetchOne(t, bus, "stranded")
}

// fetchOne takes the one command that waits and acknowledges it.
func fetchOne(t *testing.T, bus *jetstream.Bus, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := bus.Commands().Fetch(ctx, 10)
	if err != nil || len(got) != 1 || string(got[0].Message().Data) != want {
		t.Fatalf("Fetch: want %q, got %d deliveries, %v", want, len(got), err)
	}
	if err := got[0].Ack(ctx); err != nil {
		t.Fatal(err)
	}
}
