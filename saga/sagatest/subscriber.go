package sagatest

import (
	"context"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/saga"
)

// The headers of a dead letter.
const (
	reasonHeader  = "Tombstone-Reason"
	subjectHeader = "Tombstone-Subject"
)

// subscriber is the one consumer of a stream; any number of fetches may share it.
type subscriber struct {
	b      *Bus
	stream string
}

// AckWait is the bus's.
func (s *subscriber) AckWait() time.Duration { return s.b.ackWait }

// Fetch hands out what is visible, or waits for it.
func (s *subscriber) Fetch(ctx context.Context, max int) ([]saga.Delivery, error) {
	for {
		deliveries, changed, wait, err := s.take(ctx, max)
		if len(deliveries) > 0 || err != nil {
			return deliveries, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// take hands out what is visible now, and tells what to wait for when that is nothing.
func (s *subscriber) take(ctx context.Context, max int) (deliveries []saga.Delivery, changed <-chan struct{}, wait time.Duration, err error) {
	b := s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil {
		return nil, nil, 0, ctx.Err()
	}
	if b.fault != nil {
		return nil, nil, 0, b.fault
	}
	now := b.now()
	wait = time.Hour
	for _, k := range b.streams[s.stream].kept {
		if k.visibleAt.After(now) {
			wait = min(wait, k.visibleAt.Sub(now))
			continue
		}
		if len(deliveries) == max {
			break
		}
		k.attempts++
		k.visibleAt = now.Add(b.ackWait)
		deliveries = append(deliveries, &delivery{s: s, kept: k, attempt: k.attempts, message: clone(k.message)})
	}
	return deliveries, b.changed, wait, nil
}

// delivery is one message handed out. Like the real broker, the bus takes the verdict of an older delivery too.
type delivery struct {
	s       *subscriber
	kept    *kept
	attempt int
	message saga.Message
	ended   bool
}

func (d *delivery) Message() saga.Message { return d.message }
func (d *delivery) Attempt() int          { return d.attempt }

// end carries out what ends the delivery, once.
func (d *delivery) end(ctx context.Context, do func(b *Bus, from *stream)) error {
	b := d.s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if b.fault != nil {
		return b.fault
	}
	if !d.ended {
		d.ended = true
		do(b, b.streams[d.s.stream])
		b.wake()
	}
	return nil
}

func (d *delivery) InProgress(ctx context.Context) error {
	b := d.s.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if b.fault != nil {
		return b.fault
	}
	if !d.ended {
		d.kept.visibleAt = b.now().Add(b.ackWait)
	}
	return nil
}

func (d *delivery) Ack(ctx context.Context) error {
	return d.end(ctx, func(_ *Bus, from *stream) { d.remove(from) })
}

func (d *delivery) Later(ctx context.Context, delay time.Duration) error {
	return d.end(ctx, func(b *Bus, _ *stream) { d.kept.visibleAt = b.now().Add(delay) })
}

func (d *delivery) Bury(ctx context.Context, reason string) error {
	return d.end(ctx, func(b *Bus, from *stream) {
		letter := clone(d.message)
		letter.Subject = b.names.DeadLetter(d.message.Subject)
		if letter.Header == nil {
			letter.Header = map[string]string{}
		}
		letter.Header[reasonHeader] = strings.Map(oneLine, reason)
		letter.Header[subjectHeader] = d.message.Subject
		dead := b.streams[b.names.Dead().Name]
		dead.kept = append(dead.kept, &kept{message: letter})
		d.remove(from)
	})
}

// remove takes the message off its stream and remembers it for Again.
func (d *delivery) remove(from *stream) {
	if from.remove(func(k *kept) bool { return k == d.kept }) {
		from.acked = append(from.acked, d.kept)
	}
}

// oneLine makes a control character a space, as headers are lines.
func oneLine(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}
