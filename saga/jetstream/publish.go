package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// reserved begins the headers that mean something to the broker. None of ours may: a Nats-Msg-Id would make the broker
// answer "duplicate" to a replay and keep nothing.
const reserved = "Nats-"

// storeFailed is the broker's error code for "the stream did not store the message"; its text says why.
const (
	storeFailed   jetstream.ErrorCode = 10077
	perSubjectMax                     = "maximum messages per subject exceeded"
)

// Publish sends all messages at once and waits for their answers. When a stream is missing it is made anew, and what it
// did not take is sent once more.
func (b *Bus) Publish(ctx context.Context, messages []saga.Message) []error {
	errs := b.publish(ctx, messages)
	var again []int
	for i, err := range errs {
		if missing(err) {
			again = append(again, i)
		}
	}
	if len(again) == 0 {
		return errs
	}
	if _, err := b.Ensure(ctx); err != nil {
		b.Logger.Debug("cannot make streams anew", "error", err)
		return errs
	}
	retried := make([]saga.Message, len(again))
	for i, j := range again {
		retried[i] = messages[j]
	}
	for i, err := range b.publish(ctx, retried) {
		errs[again[i]] = err
	}
	return errs
}

// publish is one round.
func (b *Bus) publish(ctx context.Context, messages []saga.Message) []error {
	errs := make([]error, len(messages))
	answers := make([]jetstream.PubAckFuture, len(messages))
	for i, m := range messages {
		answers[i], errs[i] = b.send(ctx, m)
	}
	for i, answer := range answers {
		if answer == nil {
			continue
		}
		select {
		case <-answer.Ok():
		case err := <-answer.Err():
			errs[i] = b.taken(messages[i].Subject, err)
		case <-ctx.Done():
			errs[i] = ctx.Err()
		}
	}
	return errs
}

// send hands one message to the connection.
func (b *Bus) send(ctx context.Context, m saga.Message) (jetstream.PubAckFuture, error) {
	stream, ok := b.streamOf(m.Subject)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !ok:
		return nil, fmt.Errorf("no stream takes %s", m.Subject)
	case !b.nc.IsConnected():
		return nil, errAway
	}
	return b.js.PublishMsgAsync(wire(m), jetstream.WithExpectStream(stream.Name), jetstream.WithStallWait(apiTimeout))
}

// taken makes nil of the one refusal that means: a copy waits there already.
func (b *Bus) taken(subject string, err error) error {
	var api *jetstream.APIError
	if stream, _ := b.streamOf(subject); stream == b.names.Commands() && errors.As(err, &api) && api.ErrorCode == storeFailed &&
		strings.Contains(api.Description, perSubjectMax) {
		return nil
	}
	return err
}

// Purge removes what waits on exactly these subjects.
func (b *Bus) Purge(ctx context.Context, subjects []string) error {
	var g errgroup.Group
	g.SetLimit(16)
	for _, subject := range subjects {
		g.Go(func() error {
			if err := b.purge(ctx, subject); err != nil {
				return fmt.Errorf("purge %s: %w", subject, err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (b *Bus) purge(ctx context.Context, subject string) error {
	named, ok := b.streamOf(subject)
	if !ok || strings.ContainsAny(subject, "*>") {
		return errors.New("not the subject of one message of ours")
	}
	stream, err := b.stream(ctx, named)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil // so nothing waits
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	return stream.Purge(ctx, jetstream.WithPurgeSubject(subject))
}

// streamOf finds the stream that takes a subject.
func (b *Bus) streamOf(subject string) (events.Stream, bool) {
	for _, s := range []events.Stream{b.names.Commands(), b.names.Reports(), b.names.Events(), b.names.Dead()} {
		if strings.HasPrefix(subject, strings.TrimSuffix(s.Subjects, ">")) {
			return s, true
		}
	}
	return events.Stream{}, false
}

// wire is a message as the driver takes it.
func wire(m saga.Message) *nats.Msg {
	msg := &nats.Msg{Subject: m.Subject, Data: m.Data, Header: nats.Header{}}
	for name, value := range m.Header {
		if !strings.HasPrefix(name, reserved) {
			msg.Header.Set(name, value)
		}
	}
	return msg
}

// unwire is a message as it was sent; nil headers when it had none of its own.
func unwire(subject string, header nats.Header, data []byte) saga.Message {
	m := saga.Message{Subject: subject, Data: data}
	for name := range header {
		if strings.HasPrefix(name, reserved) {
			continue
		}
		if m.Header == nil {
			m.Header = map[string]string{}
		}
		m.Header[name] = header.Get(name)
	}
	return m
}
