package sagatest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// BusUnderTest is a bus for TestBus: empty, and used by nobody else.
type BusUnderTest struct {
	Names     events.Names
	Publisher saga.Publisher
	Commands  saga.Subscriber
	Reports   saga.Subscriber
	// Messages is what a stream holds now, oldest first, with the headers that a sender gave.
	Messages func(ctx context.Context, stream string) ([]saga.Message, error)
}

// patience is how long the suites wait for what must come.
const patience = 30 * time.Second

// The ack waits of the buses that TestBus opens: one that no test outlasts, and one for those that wait for its end.
const (
	longWait  = time.Minute
	shortWait = 2 * time.Second
)

// TestBus is the contract of saga.Publisher and saga.Subscriber. open makes a bus with an ack wait.
func TestBus(t *testing.T, open func(t *testing.T, ackWait time.Duration) BusUnderTest) {
	for _, c := range []struct {
		name    string
		ackWait time.Duration
		test    func(b busTest)
	}{
		{"a message arrives whole, at its first attempt", longWait, busTest.arrives},
		{"the bus has each message before Publish returns", longWait, busTest.publishIsDurable},
		{"a message that no stream takes fails alone", longWait, busTest.oneFails},
		{"publishing with a context that has ended is not known to be taken", longWait, busTest.publishEnded},
		{"a second copy of a command that waits counts as sent and is not kept", longWait, busTest.oneCommand},
		{"a second copy of a command in hand counts as sent and is not kept", longWait, busTest.oneCommandInHand},
		{"a command that was acknowledged can be published again at once", longWait, busTest.commandAgain},
		{"a purged command can be published again, its neighbours stay", longWait, busTest.purge},
		{"reports are all kept, the same subject too", longWait, busTest.reportsAreKept},
		{"events stay where they are", longWait, busTest.eventsStay},
		{"a fetch gives up to max", longWait, busTest.fetchMax},
		{"a fetch waits for what is published later", longWait, busTest.fetchWaits},
		{"a fetch ends with its context and loses nothing", longWait, busTest.fetchEnds},
		{"many messages arrive once each, whoever fetches", longWait, busTest.shared},
		{"what is not ended comes again after the ack wait", shortWait, busTest.comesAgain},
		{"progress keeps a message in hand", shortWait, busTest.inProgress},
		{"what is given back comes again after its delay", longWait, busTest.later},
		{"what is given back without a delay comes again at once", longWait, busTest.laterAtOnce},
		{"an end may be repeated", longWait, busTest.endsAreRepeatable},
		{"what is buried is with the dead letters, whole, and gone", longWait, busTest.bury},
		{"a late end of an older delivery does no harm", shortWait, busTest.lateEnd},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(busTest{t, open(t, c.ackWait)})
		})
	}
}

type busTest struct {
	*testing.T
	BusUnderTest
}

func (b busTest) ctx() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.Context(), patience)
}

func (b busTest) command(asset string) saga.Message {
	return saga.Message{Subject: b.Names.Command("deletion-1", asset), Data: []byte(`{"asset":"` + asset + `"}`)}
}

func (b busTest) report(asset, data string) saga.Message {
	return saga.Message{Subject: b.Names.Report(events.TypeAssetErased, asset), Data: []byte(data)}
}

func (b busTest) publish(messages ...saga.Message) {
	b.Helper()
	ctx, cancel := b.ctx()
	defer cancel()
	errs := b.Publisher.Publish(ctx, messages)
	if len(errs) != len(messages) {
		b.Fatalf("Publish: want an entry for each of %d messages, got %d", len(messages), len(errs))
	}
	if err := errors.Join(errs...); err != nil {
		b.Fatalf("Publish: %v", err)
	}
}

// next fetches until it has n deliveries.
func (b busTest) next(s saga.Subscriber, n int) (got []saga.Delivery) {
	b.Helper()
	ctx, cancel := b.ctx()
	defer cancel()
	for len(got) < n {
		deliveries, err := s.Fetch(ctx, n-len(got))
		if err != nil {
			b.Fatalf("Fetch after %d of %d: %v", len(got), n, err)
		}
		if len(deliveries) == 0 || len(deliveries) > n-len(got) {
			b.Fatalf("Fetch: want 1 to %d deliveries, got %d", n-len(got), len(deliveries))
		}
		got = append(got, deliveries...)
	}
	return got
}

// nothing checks that a fetch finds nothing within a time.
func (b busTest) nothing(s saga.Subscriber, within time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), within)
	defer cancel()
	if deliveries, err := s.Fetch(ctx, 10); len(deliveries) > 0 || !errors.Is(err, context.DeadlineExceeded) {
		b.Errorf("Fetch: want nothing until the context ended, got %d deliveries and %v", len(deliveries), err)
	}
}

func (b busTest) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// holds checks what a stream holds.
func (b busTest) holds(stream events.Stream, want ...saga.Message) {
	b.Helper()
	ctx, cancel := b.ctx()
	defer cancel()
	got, err := b.Messages(ctx, stream.Name)
	b.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("%s (-want +got):\n%s", stream.Name, diff)
	}
}

// emptied waits until a stream holds nothing: some ends are not confirmed.
func (b busTest) emptied(stream events.Stream) {
	b.Helper()
	ctx, cancel := b.ctx()
	defer cancel()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		got, err := b.Messages(ctx, stream.Name)
		b.must(err)
		if len(got) == 0 {
			return
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			b.Fatalf("%s: want nothing, still holds %d messages", stream.Name, len(got))
		}
	}
}

func (b busTest) many(n int) (messages []saga.Message) {
	for i := range n {
		messages = append(messages, b.command(fmt.Sprintf("asset-%04d", i)))
	}
	return messages
}
