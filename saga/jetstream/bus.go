// Package jetstream is the saga's bus on NATS JetStream: the streams and consumers of the contract, publishing, fetching,
// and dead letters.
//
// A broker that was away, was restarted, or lost its streams or consumers is ordinary: calls fail meanwhile, and what is
// missing is made anew by whoever meets it first.
package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// Options are the settings of a Bus; zero members have the defaults.
type Options struct {
	// Replicas of each stream. Default 1.
	Replicas int
	// EventsMaxAge is how long the feed keeps an event. Default 90 days.
	EventsMaxAge time.Duration
	// AckWait is how long a message may be in hand without a sign. Default 30 s.
	AckWait time.Duration
	// MaxAckPending is how many messages of a consumer may be in hand or given back at the same time, over all processes.
	// Default 4,096.
	MaxAckPending int
	// OnRecreated is told the name of each stream that had to be made anew, by us or by somebody else since we last
	// looked: what it held is lost. It runs on the goroutine that found it, and must not wait for the bus.
	OnRecreated func(stream string)
	// Follow leaves making and mending streams and consumers to another process, and waits until it has: the right to do so
	// would be the right to have the broker write anywhere.
	Follow bool
	Logger *slog.Logger // nil: nothing is logged
}

const (
	day = 24 * time.Hour
	// apiTimeout bounds one question to the broker's API.
	apiTimeout = 5 * time.Second
	// maxPending is how many messages may be published and not answered yet; more wait their turn.
	maxPending = 4096
)

// Bus is the bus on one connection. It implements saga.Publisher.
type Bus struct {
	Options
	nc    *nats.Conn
	js    jetstream.JetStream
	names events.Names

	ensuring sync.Mutex           // one Ensure at a time
	made     map[string]time.Time // stream → when it was made, as last seen; guarded by ensuring
}

var _ saga.Publisher = (*Bus)(nil)

// New makes a bus on a connection that stays the caller's. It asks the broker nothing, so it succeeds while that is away.
func New(nc *nats.Conn, names events.Names, o Options) (*Bus, error) {
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	if o.EventsMaxAge == 0 {
		o.EventsMaxAge = 90 * day
	}
	if o.AckWait == 0 {
		o.AckWait = 30 * time.Second
	}
	if o.MaxAckPending == 0 {
		o.MaxAckPending = 4096
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	js, err := jetstream.New(nc,
		jetstream.WithPublishAsyncMaxPending(maxPending),
		jetstream.WithPublishAsyncTimeout(2*apiTimeout),
		jetstream.WithDefaultTimeout(apiTimeout))
	if err != nil {
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	return &Bus{Options: o, nc: nc, js: js, names: names, made: map[string]time.Time{}}, nil
}

// errAway is what calls give while there is no connection.
var errAway = errors.New("not connected to the broker")

// Ping tells whether the broker answers and has our streams.
func (b *Bus) Ping(ctx context.Context) error {
	for _, s := range b.needed() {
		if _, err := b.stream(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// needed are the streams that this process works with: one that follows has no business with the feed.
func (b *Bus) needed() []events.Stream {
	streams := []events.Stream{b.names.Commands(), b.names.Reports(), b.names.Dead()}
	if !b.Follow {
		streams = append(streams, b.names.Events())
	}
	return streams
}

// Made is when each of our streams was made. Whoever keeps these times can tell later, and after a restart, that a stream
// was lost and made anew meanwhile.
func (b *Bus) Made(ctx context.Context) (map[string]time.Time, error) {
	made := map[string]time.Time{}
	for _, s := range []events.Stream{b.names.Commands(), b.names.Reports(), b.names.Events(), b.names.Dead()} {
		stream, err := b.stream(ctx, s)
		if err != nil {
			return nil, err
		}
		made[s.Name] = stream.CachedInfo().Created
	}
	return made, nil
}

// WaitingCommands is how many commands the broker holds, in hand or not.
func (b *Bus) WaitingCommands(ctx context.Context) (int, error) {
	stream, err := b.stream(ctx, b.names.Commands())
	if missing(err) {
		_, err = b.Ensure(ctx)
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	return int(stream.CachedInfo().State.Msgs), nil
}

// stream asks for a stream.
func (b *Bus) stream(ctx context.Context, s events.Stream) (jetstream.Stream, error) {
	if !b.nc.IsConnected() {
		return nil, errAway
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := b.js.Stream(ctx, s.Name)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", s.Name, err)
	}
	return stream, nil
}
