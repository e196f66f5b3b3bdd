package saga_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// taken keeps what is published.
type taken struct{ messages []saga.Message }

func (p *taken) Publish(_ context.Context, messages []saga.Message) []error {
	p.messages = append(p.messages, messages...)
	return make([]error, len(messages))
}

func (*taken) Purge(context.Context, []string) error { return nil }

func TestOnlyWhatWasSignedReachesTheHandler(t *testing.T) {
	keys := events.Keys{strings.Repeat("k", 32)}
	var bus taken
	sent := saga.Message{Subject: "a.command", Header: map[string]string{"traceparent": "x"}, Data: []byte("body")}
	if err := errors.Join(saga.Signed(&bus, keys).Publish(t.Context(), []saga.Message{sent})...); err != nil {
		t.Fatal(err)
	}
	genuine := bus.messages[0]
	if genuine.Header["traceparent"] != "x" || len(sent.Header) != 1 || string(genuine.Data) != "body" || genuine.Subject != sent.Subject {
		t.Fatalf("published %+v, of %+v", genuine, sent)
	}
	handled := 0
	handle := saga.Verified(keys, func(context.Context, saga.Message, int) error { handled++; return nil })
	for range 2 { // a copy is genuine too
		if err := handle(t.Context(), genuine, 1); err != nil {
			t.Errorf("genuine: %v", err)
		}
	}
	for name, forge := range map[string]func(*saga.Message){
		"not signed":      func(m *saga.Message) { delete(m.Header, events.HeaderSignature) },
		"another body":    func(m *saga.Message) { m.Data = []byte("Body") },
		"another subject": func(m *saga.Message) { m.Subject = "a.report" },
		"another key": func(m *saga.Message) {
			m.Header[events.HeaderSignature] = events.Keys{strings.Repeat("x", 32)}.Sign("message", []byte(m.Subject), m.Data)
		},
	} {
		m := genuine
		m.Header = maps.Clone(genuine.Header)
		forge(&m)
		if err := handle(t.Context(), m, 1); !errors.Is(err, events.ErrUnreadable) || saga.Decide(err, 1, saga.Backoff{}).Kind != saga.Never {
			t.Errorf("%s: %v", name, err)
		}
	}
	if handled != 2 {
		t.Errorf("%d reached the handler, want 2", handled)
	}
}

func TestWithoutKeysNothingIsSignedAndEverythingPasses(t *testing.T) {
	var bus taken
	_ = saga.Signed(&bus, nil).Publish(t.Context(), []saga.Message{{Subject: "s"}})
	if len(bus.messages[0].Header) > 0 {
		t.Errorf("headers %v", bus.messages[0].Header)
	}
	if err := saga.Verified(nil, func(context.Context, saga.Message, int) error { return nil })(t.Context(), saga.Message{}, 1); err != nil {
		t.Error(err)
	}
}
