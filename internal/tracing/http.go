package tracing

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// untraced are asked for every few seconds by machines that nobody follows.
var untraced = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// HTTP makes a span of each request, in the caller's trace when it names one. What runs behind it finds the span in the
// context, and as the request's own traceparent, so that a deletion carries it on. Streams of events are left out: they last.
func (t *Tracer) HTTP(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if untraced[r.URL.Path] || r.Header.Get("Accept") == "text/event-stream" {
			next.ServeHTTP(w, r)
			return
		}
		header := propagation.HeaderCarrier(r.Header)
		ctx, span := t.tracer.Start(propagator.Extract(r.Context(), header), r.Method, trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("http.request.method", r.Method), attribute.String("url.path", r.URL.Path)))
		defer span.End()
		r = r.WithContext(ctx)
		r.Header = r.Header.Clone()
		propagator.Inject(ctx, propagation.HeaderCarrier(r.Header))
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(answer, r)
		if route := chi.RouteContext(r.Context()); route != nil && route.RoutePattern() != "" {
			span.SetName(r.Method + " " + route.RoutePattern())
			span.SetAttributes(attribute.String("http.route", route.RoutePattern()))
		}
		if answer.Status() > 0 {
			span.SetAttributes(attribute.Int("http.response.status_code", answer.Status()))
		}
		if answer.Status() >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(answer.Status()))
		}
	})
}
