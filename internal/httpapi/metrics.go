package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
)

// methods are those that routes have; others count as "other", so that callers cannot make new series.
var methods = []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete}

// measure counts and times requests by route pattern, never by path, and tells each to the log at level debug.
func measure(registerer prometheus.Registerer, log *slog.Logger) (func(http.Handler) http.Handler, error) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tombstone_http_requests_total", Help: "HTTP requests by route, method and status code.",
	}, []string{"route", "method", "code"})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tombstone_http_request_duration_seconds", Help: "Time from a request's header to the end of its answer.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"route", "method"})
	if err := errors.Join(registerer.Register(requests), registerer.Register(durations)); err != nil {
		return nil, err
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
			defer func() {
				route, method, took := pattern(r), knownMethod(r.Method), time.Since(start)
				requests.WithLabelValues(route, method, strconv.Itoa(status(answer))).Inc()
				durations.WithLabelValues(route, method).Observe(took.Seconds())
				log.DebugContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path, "status", status(answer), "took", took)
			}()
			next.ServeHTTP(answer, r)
		})
	}, nil
}

// pattern is the route that the request took; bounded, whatever was asked for.
func pattern(r *http.Request) string {
	if p := chi.RouteContext(r.Context()).RoutePattern(); p != "" {
		return p
	}
	return "none"
}

func knownMethod(method string) string {
	if method == http.MethodHead || slices.Contains(methods, method) {
		return method
	}
	return "other"
}

// status is the code that was sent; a handler that sends none sends 200.
func status(w middleware.WrapResponseWriter) int {
	if w.Status() == 0 {
		return http.StatusOK
	}
	return w.Status()
}
