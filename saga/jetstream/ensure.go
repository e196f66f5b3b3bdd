package jetstream

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
)

// Ensure makes the streams and consumers that are missing and corrects the settings of those that differ. What waits on a
// stream stays. It names the streams that it had to make: they are empty, whatever was published before. Several
// processes may do it at the same time; then more than one may name a stream.
//
// It need not be called: whatever finds a stream or consumer missing does. A bus that follows makes nothing, and fails until
// everything is there.
func (b *Bus) Ensure(ctx context.Context) (created []string, err error) {
	created, anew, err := b.ensure(ctx)
	for _, stream := range anew {
		if b.OnRecreated != nil {
			b.OnRecreated(stream)
		}
	}
	return created, err
}

// ensure also names the streams that are others than we knew, whoever made them.
func (b *Bus) ensure(ctx context.Context) (created, anew []string, err error) {
	b.ensuring.Lock()
	defer b.ensuring.Unlock()
	if b.Follow {
		return nil, nil, b.await(ctx)
	}
	for _, want := range b.streams() {
		isNew, made, err := b.ensureStream(ctx, want)
		if err != nil {
			return created, anew, fmt.Errorf("ensure stream %s: %w", want.Name, err)
		}
		if isNew {
			created = append(created, want.Name)
		}
		switch known, seen := b.made[want.Name]; {
		case seen && !known.Equal(made):
			b.Logger.Warn("stream was lost and made anew, it is empty", "stream", want.Name)
			anew = append(anew, want.Name)
		case isNew:
			b.Logger.Info("stream made", "stream", want.Name)
			anew = append(anew, want.Name)
		}
		b.made[want.Name] = made
	}
	for stream, want := range b.consumers() {
		if err := b.ensureConsumer(ctx, stream, want); err != nil {
			return created, anew, fmt.Errorf("ensure consumer %s: %w", want.Durable, err)
		}
	}
	return created, anew, b.RemoveAcknowledged(ctx)
}

// await tells what the other process has not made yet.
func (b *Bus) await(ctx context.Context) error {
	if err := b.Ping(ctx); err != nil {
		return fmt.Errorf("the dependency service makes the streams: %w", err)
	}
	if _, err := b.js.Consumer(ctx, b.names.Commands().Name, b.names.EraseConsumer()); err != nil {
		return fmt.Errorf("the dependency service makes the consumers: %s: %w", b.names.EraseConsumer(), err)
	}
	return nil
}

// RemoveAcknowledged removes from the work queues what was acknowledged, and a broker that was killed has kept. Nothing
// tells us when a broker was killed, so it is called every now and then; what is not there is no error.
func (b *Bus) RemoveAcknowledged(ctx context.Context) error {
	for stream, c := range b.consumers() {
		if err := removeAcknowledged(ctx, b.js, stream, c.Durable); err != nil && !missing(err) {
			return fmt.Errorf("remove what %s has acknowledged: %w", c.Durable, err)
		}
	}
	return nil
}

// streams are the settings of the contract.
func (b *Bus) streams() []jetstream.StreamConfig {
	base := func(s events.Stream) jetstream.StreamConfig {
		return jetstream.StreamConfig{Name: s.Name, Subjects: []string{s.Subjects}, Storage: jetstream.FileStorage, Replicas: b.Replicas}
	}
	commands, reports, feed, dead := base(b.names.Commands()), base(b.names.Reports()), base(b.names.Events()), base(b.names.Dead())
	commands.Retention, reports.Retention = jetstream.WorkQueuePolicy, jetstream.WorkQueuePolicy
	commands.MaxMsgsPerSubject, commands.Discard, commands.DiscardNewPerSubject = 1, jetstream.DiscardNew, true
	feed.MaxAge, feed.DenyDelete, feed.DenyPurge = b.EventsMaxAge, true, true
	return []jetstream.StreamConfig{commands, reports, feed, dead}
}

// ensureStream makes or corrects one stream, and tells whether it made it, and when it was made.
func (b *Bus) ensureStream(ctx context.Context, want jetstream.StreamConfig) (isNew bool, made time.Time, err error) {
	if !b.nc.IsConnected() {
		return false, made, errAway
	}
	stream, err := b.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		isNew = true
		stream, err = b.js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // somebody was faster, with other settings
			isNew = false
			stream, err = b.js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return false, made, err
	}
	info := stream.CachedInfo()
	if settings := merge(info.Config, want); !reflect.DeepEqual(settings, info.Config) {
		b.Logger.Info("stream has other settings, they are corrected", "stream", want.Name)
		if _, err := b.js.UpdateStream(ctx, settings); err != nil {
			return isNew, made, err
		}
	}
	return isNew, info.Created, nil
}

// merge puts our settings over those that a stream has, and leaves the rest to the operator (placement, size limits, …).
func merge(have, want jetstream.StreamConfig) jetstream.StreamConfig {
	have.Subjects, have.Retention, have.Storage, have.Replicas = want.Subjects, want.Retention, want.Storage, want.Replicas
	have.Discard, have.DiscardNewPerSubject = want.Discard, want.DiscardNewPerSubject
	have.MaxMsgsPerSubject = or(want.MaxMsgsPerSubject, -1)
	have.MaxAge, have.DenyDelete, have.DenyPurge = want.MaxAge, want.DenyDelete, want.DenyPurge
	return have
}

// consumers are the settings of the durable consumers, by stream. There is no back-off list: it would replace the ack wait
// by its first step; and no limit of deliveries: what is above one is never offered again, and nobody is told.
func (b *Bus) consumers() map[string]jetstream.ConsumerConfig {
	base := func(name string) jetstream.ConsumerConfig {
		return jetstream.ConsumerConfig{Durable: name, DeliverPolicy: jetstream.DeliverAllPolicy, AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: b.AckWait, MaxDeliver: -1, MaxAckPending: b.MaxAckPending}
	}
	return map[string]jetstream.ConsumerConfig{
		b.names.Commands().Name: base(b.names.EraseConsumer()),
		b.names.Reports().Name:  base(b.names.ReportConsumer()),
	}
}

// ensureConsumer makes or corrects one consumer. One that cannot be corrected, or whose limit of deliveries may have
// stranded messages, is made anew: a work queue keeps what is not acknowledged, and hands it out again.
func (b *Bus) ensureConsumer(ctx context.Context, stream string, want jetstream.ConsumerConfig) error {
	consumer, err := b.js.Consumer(ctx, stream, want.Durable)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		_, err = b.js.CreateOrUpdateConsumer(ctx, stream, want)
		return err
	case errors.Is(err, jetstream.ErrNotPullConsumer):
		return b.remakeConsumer(ctx, stream, want)
	case err != nil:
		return err
	}
	have := consumer.CachedInfo().Config
	if fits(have, want) {
		return nil
	}
	b.Logger.Warn("consumer has other settings, they are corrected", "consumer", want.Durable, "ack_wait", have.AckWait,
		"max_deliver", have.MaxDeliver, "max_ack_pending", have.MaxAckPending)
	if have.MaxDeliver == want.MaxDeliver {
		if _, err := b.js.UpdateConsumer(ctx, stream, want); err == nil {
			return nil
		}
	}
	return b.remakeConsumer(ctx, stream, want)
}

func (b *Bus) remakeConsumer(ctx context.Context, stream string, want jetstream.ConsumerConfig) error {
	if err := b.js.DeleteConsumer(ctx, stream, want.Durable); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return err
	}
	_, err := b.js.CreateOrUpdateConsumer(ctx, stream, want)
	return err
}

// removeAcknowledged removes what the only consumer of a work queue has acknowledged and a killed broker has kept (seen with
// 2.15): it is never handed out again, and a command there keeps its own replacement out.
func removeAcknowledged(ctx context.Context, js jetstream.JetStream, name, consumer string) error {
	handle, err := js.Consumer(ctx, name, consumer)
	if err != nil {
		return err
	}
	done := handle.CachedInfo().AckFloor.Stream
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return err
	}
	if left := stream.CachedInfo().State; done == 0 || left.Msgs == 0 || left.FirstSeq > done {
		return nil
	}
	return stream.Purge(ctx, jetstream.WithPurgeSequence(done+1)) // up to it, without it
}

// fits compares what matters to us.
func fits(have, want jetstream.ConsumerConfig) bool {
	return have.AckPolicy == want.AckPolicy && have.DeliverPolicy == want.DeliverPolicy && have.AckWait == want.AckWait &&
		have.MaxDeliver == want.MaxDeliver && have.MaxAckPending == want.MaxAckPending && len(have.BackOff) == 0 &&
		have.FilterSubject == "" && slices.Equal(have.FilterSubjects, want.FilterSubjects) && !have.HeadersOnly && have.InactiveThreshold == 0
}

// missing tells that an error means: a stream or consumer of ours is not there.
func missing(err error) bool {
	for _, sign := range []error{jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrConsumerDeleted, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, sign) {
			return true
		}
	}
	return false
}

func or[T comparable](value, byDefault T) T {
	var zero T
	if value == zero {
		return byDefault
	}
	return value
}
