package app

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/saga/jetstream"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// bus is the broker as the parts share it.
type bus struct {
	*jetstream.Bus
	conn     *jetstream.Conn
	prepared chan struct{}
	lost     chan struct{} // a stream was made anew
}

// openBus opens the connection; a broker that is away is no error. Streams and consumers are made as soon as it answers.
func (p *process) openBus() (*bus, error) {
	conn, err := jetstream.Connect(jetstream.Connection{URL: p.cfg.NATSURL.Reveal(), Credentials: p.cfg.NATSCreds, Inbox: p.names.Inbox(string(p.role)),
		Roots: p.roots}, p.log)
	if err != nil {
		return nil, err
	}
	b := &bus{conn: conn, prepared: make(chan struct{}), lost: make(chan struct{}, 1)}
	b.Bus, err = jetstream.New(conn, p.names, jetstream.Options{Replicas: p.cfg.StreamReplicas, EventsMaxAge: p.policy.Events.MaxAge, Logger: p.log,
		Follow:      !p.role.dependency(),
		OnRecreated: func(string) { b.signalLost() }})
	if err != nil {
		conn.Close()
		return nil, err
	}
	p.closers = append(p.closers, func() error { conn.Close(); return nil })
	p.ready.store("broker", b.Ping)
	p.part("streams", p.prepare("broker", func(ctx context.Context) error {
		_, err := b.Ensure(ctx)
		return err
	}, b.prepared))
	return b, nil
}

func (b *bus) signalLost() {
	select {
	case b.lost <- struct{}{}:
	default:
	}
}

// streamsEvery is how often it is looked whether the streams are still the same. Signals alone are not enough: streams that
// an asset service has made anew first look to this process as if nothing had been lost.
const streamsEvery = 15 * time.Second

// watch tells the dependency service when the streams were made: at the start, when this process made one anew, and every
// now and then. It also removes what a killed broker has kept although it was acknowledged.
func (b *bus) watch(p *process, deps *dependency.Service) func(context.Context) error {
	return func(ctx context.Context) error {
		for failures := 0; ; {
			made, err := b.Made(ctx)
			if err == nil {
				err = deps.NoteStreams(ctx, made[p.names.Commands().Name], made[p.names.Events().Name])
			}
			if err == nil {
				err = b.RemoveAcknowledged(ctx)
			}
			if err == nil {
				failures = 0
				if !b.awaitLoss(ctx) {
					return nil
				}
				continue
			}
			failures++
			if failures == 1 && ctx.Err() == nil {
				p.log.Warn("cannot look after the broker's streams; it is tried again", "error", err)
			}
			if !rest(ctx, preparePace.Delay(failures)) {
				return nil
			}
		}
	}
}

// awaitLoss waits until streams may have been lost; false when ctx ended first.
func (b *bus) awaitLoss(ctx context.Context) bool {
	timer := time.NewTimer(streamsEvery)
	defer timer.Stop()
	select {
	case <-b.lost:
		return true
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
