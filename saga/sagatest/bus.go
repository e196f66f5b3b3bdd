// Package sagatest has contract suites for the ports of the saga, and an in-memory bus and outbox that pass them.
//
// The suites take a constructor; an adapter's own test calls one and is done. The in-memory parts are for tests of what
// stands on the ports: they have the faults of the real ones (copies, losses, outages) on demand.
package sagatest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// BusConfig is what a Bus needs; zero members have the defaults.
type BusConfig struct {
	Names events.Names
	// AckWait of both consumers; default 30 s.
	AckWait time.Duration
}

// Bus is a bus in memory: the commands (one message a subject) and the reports as work queues, the events and the dead
// letters as logs. It implements saga.Publisher. Its clock is the system's, and Advance puts it forward.
type Bus struct {
	names   events.Names
	ackWait time.Duration

	mu      sync.Mutex
	streams map[string]*stream // by name
	ahead   time.Duration      // of the clock
	changed chan struct{}      // closed, and made anew, at every change that a fetch may wait for
	fault   error              // every call fails with it
	refuse  func(saga.Message) error
}

// stream is one of the four.
type stream struct {
	subjects string // prefix
	single   bool   // one message a subject
	kept     []*kept
	acked    []*kept // for Again
}

// kept is one message that a stream holds.
type kept struct {
	message   saga.Message
	attempts  int
	visibleAt time.Time // not handed out before
}

// NewBus makes an empty bus.
func NewBus(c BusConfig) *Bus {
	b := &Bus{names: c.Names, ackWait: c.AckWait, changed: make(chan struct{})}
	if b.ackWait == 0 {
		b.ackWait = 30 * time.Second
	}
	b.empty()
	return b
}

// empty makes the streams anew. b.mu is held, or nobody has b yet.
func (b *Bus) empty() {
	b.streams = map[string]*stream{}
	for _, s := range []events.Stream{b.names.Commands(), b.names.Reports(), b.names.Events(), b.names.Dead()} {
		b.streams[s.Name] = &stream{subjects: strings.TrimSuffix(s.Subjects, ">"), single: s == b.names.Commands()}
	}
}

// Publish puts each message on the stream of its subject.
func (b *Bus) Publish(ctx context.Context, messages []saga.Message) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := make([]error, len(messages))
	for i, m := range messages {
		errs[i] = b.publish(ctx, m)
	}
	b.wake()
	return errs
}

func (b *Bus) publish(ctx context.Context, m saga.Message) error {
	s := b.streamOf(m.Subject)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case b.fault != nil:
		return b.fault
	case s == nil:
		return fmt.Errorf("no stream takes %s", m.Subject)
	}
	if b.refuse != nil {
		if err := b.refuse(m); err != nil {
			return err
		}
	}
	if !s.single || !s.holds(m.Subject) {
		s.kept = append(s.kept, &kept{message: clone(m), visibleAt: b.now()})
	}
	return nil
}

// Purge removes what waits on exactly these subjects.
func (b *Bus) Purge(ctx context.Context, subjects []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := errors.Join(ctx.Err(), b.fault); err != nil {
		return err
	}
	for _, subject := range subjects {
		if s := b.streamOf(subject); s != nil {
			s.remove(func(k *kept) bool { return k.message.Subject == subject })
		}
	}
	return nil
}

// Commands is the consumer of the commands.
func (b *Bus) Commands() saga.Subscriber { return &subscriber{b, b.names.Commands().Name} }

// Reports is the consumer of the reports.
func (b *Bus) Reports() saga.Subscriber { return &subscriber{b, b.names.Reports().Name} }

// Messages is what a stream holds now, oldest first.
func (b *Bus) Messages(stream string) (messages []saga.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.streams[stream].kept {
		messages = append(messages, clone(k.message))
	}
	return messages
}

// streamOf finds the stream of a subject; nil when there is none.
func (b *Bus) streamOf(subject string) *stream {
	for _, s := range b.streams {
		if strings.HasPrefix(subject, s.subjects) {
			return s
		}
	}
	return nil
}

func (s *stream) holds(subject string) bool {
	for _, k := range s.kept {
		if k.message.Subject == subject {
			return true
		}
	}
	return false
}

// remove takes out what matches, and says whether anything did.
func (s *stream) remove(match func(*kept) bool) (found bool) {
	var rest []*kept
	for _, k := range s.kept {
		if match(k) {
			found = true
			continue
		}
		rest = append(rest, k)
	}
	s.kept = rest
	return found
}

func (b *Bus) now() time.Time { return time.Now().Add(b.ahead) }

// wake lets every fetch look again. b.mu is held.
func (b *Bus) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func clone(m saga.Message) saga.Message {
	c := saga.Message{Subject: m.Subject, Data: append([]byte{}, m.Data...)}
	for k, v := range m.Header {
		if c.Header == nil {
			c.Header = map[string]string{}
		}
		c.Header[k] = v
	}
	return c
}
