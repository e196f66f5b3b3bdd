package apitest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Callers is an authenticator that knows callers by their tokens.
type Callers map[string]dependency.Caller

// Authenticate finds the caller of the bearer token.
func (c Callers) Authenticate(r *http.Request) (dependency.Caller, error) {
	if caller, ok := c[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]; ok {
		return caller, nil
	}
	return dependency.Caller{}, problem.New(problem.Unauthenticated, "this token is not known")
}

// Anybody is an authenticator for which every caller, with any token or none, is an operator.
type Anybody struct{}

// Authenticate lets everybody in.
func (Anybody) Authenticate(*http.Request) (dependency.Caller, error) {
	return dependency.Caller{Subject: "anonymous", Owner: "default", Operator: true}, nil
}

// Handler makes the HTTP API of a service, with everybody let in; change may change what is served.
func Handler(t testing.TB, s *Service, change ...func(*httpapi.Config)) http.Handler {
	t.Helper()
	registry := prometheus.NewRegistry()
	cfg := httpapi.Config{
		Dependency: s, Asset: s, Stores: s, Auth: Anybody{}, Version: "test",
		Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), Registerer: registry,
	}
	for _, f := range change {
		f(&cfg)
	}
	h, err := httpapi.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Serve is Handler on a listener of this machine that closes with the test; it gives its URL.
func Serve(t testing.TB, s *Service, change ...func(*httpapi.Config)) string {
	t.Helper()
	server := httptest.NewServer(Handler(t, s, change...))
	t.Cleanup(server.Close)
	return server.URL
}
