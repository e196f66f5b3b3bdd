package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/tombstone-project/tombstone/internal/batch"
)

// batchSize is how many items a call carries, those of other traces included.
func batchSize(n int) attribute.KeyValue { return attribute.Int("tombstone.batch.size", n) }

// calls begins a span in the trace of everybody for whom a call is made, once for each span that asks for it. A call that is
// made for nobody's trace has none.
func (t *Tracer) calls(ctx context.Context, name string, attributes ...attribute.KeyValue) (end func(errs ...error)) {
	var spans []trace.Span
	seen := map[trace.SpanID]bool{}
	for _, requester := range batch.Requesters(ctx) {
		parent := trace.SpanContextFromContext(requester)
		if !parent.IsSampled() || seen[parent.SpanID()] {
			continue
		}
		seen[parent.SpanID()] = true
		_, span := t.tracer.Start(requester, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
		spans = append(spans, span)
	}
	return func(errs ...error) {
		err := errors.Join(errs...)
		for _, span := range spans {
			fail(span, err)
			span.End()
		}
	}
}

// fail notes that something failed, and not what: an error may quote what a store or a caller sent. The log has it.
func fail(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "see the log")
	}
}
