// Package tracing tells OpenTelemetry of what the services do for whom: the call of the API, its transaction, the command on
// the broker, each call of a store for it, the report, and the completion are spans of one trace. It stands at the ports, as
// wrappers, so that the services know nothing of it; what ties the hops together is the traceparent of the messages, which is
// that of the deletion in the graph, so that what is sent again after a crash belongs to the same trace.
//
// Ids are attributes; contents, reasons and tokens never are.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope names this instrumentation.
const scope = "github.com/tombstone-project/tombstone"

// Tracer makes spans. A nil Tracer makes none, and wraps nothing.
type Tracer struct {
	tracer   trace.Tracer
	shutdown func(context.Context) error
}

// propagator is the W3C trace context.
var propagator = propagation.TraceContext{}

// Start makes a tracer by OpenTelemetry's own settings, which lookup reads: nil when none of them names where to send traces, or
// one says that nothing is to be sent. The exporter sends in the background; what it cannot send is dropped and told in the log.
func Start(ctx context.Context, lookup func(string) (string, bool), version string, log *slog.Logger) (*Tracer, error) {
	wanted, err := wanted(lookup)
	if err != nil || !wanted {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "tombstone"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are not sent", "error", err) }))
	return New(sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))), nil
}

// New makes a tracer of a provider, which it shuts down.
func New(p *sdktrace.TracerProvider) *Tracer {
	return &Tracer{tracer: p.Tracer(scope), shutdown: p.Shutdown}
}

// wanted tells whether the settings ask for traces. Those for other ways of sending them are refused, rather than left unheard.
func wanted(lookup func(string) (string, bool)) (bool, error) {
	setting := func(names ...string) string {
		for _, name := range names {
			if value, ok := lookup(name); ok && value != "" {
				return value
			}
		}
		return ""
	}
	switch {
	case setting("OTEL_SDK_DISABLED") == "true", setting("OTEL_TRACES_EXPORTER") == "none":
		return false, nil
	case setting("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT") == "" && setting("OTEL_TRACES_EXPORTER") == "":
		return false, nil
	}
	if exporter := setting("OTEL_TRACES_EXPORTER"); exporter != "" && exporter != "otlp" {
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER: %q is not otlp or none", exporter)
	}
	if protocol := setting("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is spoken, not %q; its port is 4318 in most collectors", protocol)
	}
	return true, nil
}

// Shutdown sends what is left.
func (t *Tracer) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.shutdown(ctx)
}
