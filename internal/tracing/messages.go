package tracing

import (
	"context"
	"encoding/json"
	"maps"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/tombstone-project/tombstone/saga"
)

// glimpse is what spans tell of a message.
type glimpse struct {
	Type        string `json:"type"`
	TraceParent string `json:"traceparent"`
	Data        struct {
		Deletion string `json:"deletion"`
		Asset    string `json:"asset"`
	} `json:"data"`
}

// glance reads no more than that; of what cannot be read, nothing.
func glance(data []byte) (g glimpse) {
	if json.Unmarshal(data, &g) != nil {
		return glimpse{}
	}
	return g
}

func (g glimpse) attributes(subject string) trace.SpanStartEventOption {
	return trace.WithAttributes(attribute.String("messaging.system", "nats"), attribute.String("messaging.destination.name", subject),
		attribute.String("tombstone.deletion", g.Data.Deletion), attribute.String("tombstone.asset", g.Data.Asset))
}

// within is the context of the trace that a message belongs to: that of the hop before, in its header, else that of the
// deletion.
func (g glimpse) within(ctx context.Context, header map[string]string) context.Context {
	ctx = propagator.Extract(ctx, propagation.MapCarrier{"traceparent": g.TraceParent})
	return propagator.Extract(ctx, propagation.MapCarrier(header))
}

// Publisher makes a span of each message that belongs to a trace, and sends it along in the message's header.
func (t *Tracer) Publisher(p saga.Publisher) saga.Publisher {
	if t == nil {
		return p
	}
	return publisher{p, t}
}

type publisher struct {
	saga.Publisher
	t *Tracer
}

func (p publisher) Publish(ctx context.Context, messages []saga.Message) []error {
	traced := make([]saga.Message, len(messages))
	spans := make([]trace.Span, len(messages))
	for i, m := range messages {
		traced[i], spans[i] = p.begin(ctx, m)
	}
	errs := p.Publisher.Publish(ctx, traced)
	for i, span := range spans {
		fail(span, errs[i])
		span.End()
	}
	return errs
}

// begin gives the message as it is sent; a span that does nothing when it belongs to no trace.
func (p publisher) begin(ctx context.Context, m saga.Message) (saga.Message, trace.Span) {
	g := glance(m.Data)
	ctx = g.within(ctx, m.Header)
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return m, trace.SpanFromContext(ctx)
	}
	ctx, span := p.t.tracer.Start(ctx, "publish "+g.Type, trace.WithSpanKind(trace.SpanKindProducer), g.attributes(m.Subject))
	header := propagation.MapCarrier(maps.Clone(m.Header))
	if header == nil {
		header = propagation.MapCarrier{}
	}
	propagator.Inject(ctx, header)
	m.Header = header
	return m, span
}

// Handle makes a span of each message that is handled and belongs to a trace; what it calls finds the span in its context.
func (t *Tracer) Handle(handle func(context.Context, saga.Message, int) error) func(context.Context, saga.Message, int) error {
	if t == nil {
		return handle
	}
	return func(ctx context.Context, m saga.Message, attempt int) error {
		g := glance(m.Data)
		ctx = g.within(ctx, m.Header)
		if !trace.SpanContextFromContext(ctx).IsValid() {
			return handle(ctx, m, attempt)
		}
		ctx, span := t.tracer.Start(ctx, "handle "+g.Type, trace.WithSpanKind(trace.SpanKindConsumer), g.attributes(m.Subject),
			trace.WithAttributes(attribute.Int("tombstone.attempt", attempt)))
		defer span.End()
		err := handle(ctx, m, attempt)
		fail(span, err)
		return err
	}
}
