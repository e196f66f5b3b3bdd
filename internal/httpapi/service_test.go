package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
)

var callers = apitest.Callers{
	"alice": {Subject: "alice", Owner: "acme"},
	"bob":   {Subject: "bob", Owner: "globex"},
	"op":    {Subject: "olga", Owner: "ops", Operator: true},
}

// as adds a token to a call.
func (c caller) as(token, method, target, body string) answer {
	c.t.Helper()
	return c.call(method, target, body, "Authorization", "Bearer "+token)
}

func TestCallers(t *testing.T) {
	s := apitest.New()
	c := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Auth = callers })}
	c.as("alice", "PUT", "/v1/assets/a", mesh).want(201)
	did, _ := c.as("alice", "DELETE", "/v1/assets/a", "").want(202).json()["id"].(string)
	c.as("alice", "PUT", "/v1/assets/b", mesh).want(201)

	t.Run("401 comes before everything else", func(t *testing.T) {
		for _, target := range []string{"/v1/assets/b", "/v1/assets/%00", "/v1/nothing", "/v1/assets?limit=x", "/v1/admin/pending"} {
			a := c.as("wrong", "GET", target, "{")
			a.problem(401, "unauthenticated", "")
			if a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: no WWW-Authenticate", target)
			}
		}
		c.call("PUT", "/v1/assets/b", "{").problem(401, "unauthenticated", "")
	})
	t.Run("operator calls are 403 without the role, before their bodies are looked at", func(t *testing.T) {
		for _, call := range [][2]string{
			{"GET", "/v1/admin/pending"}, {"POST", "/v1/admin/pending/replay"}, {"GET", "/v1/admin/stalled"}, {"POST", "/v1/admin/stalled/retry"},
			{"GET", "/v1/admin/audit?asset=b"}, {"GET", "/v1/admin/stores"}, {"POST", "/v1/admin/retention"}, {"POST", "/v1/admin/sweep"}, {"POST", "/v1/admin/verify"},
			{"POST", "/v1/admin/pause"}, {"POST", "/v1/admin/resume"}, {"PUT", "/v1/assets/b/hold"}, {"DELETE", "/v1/assets/b/hold"},
			{"POST", "/v1/deletions/" + did + "/force"},
		} {
			c.as("alice", call[0], call[1], "{").problem(403, "forbidden", "")
		}
		c.as("op", "GET", "/v1/admin/pending", "").want(200)
		c.as("op", "POST", "/v1/admin/pending/replay", "{").problem(422, "invalid-request", "body")
	})
	t.Run("what belongs to another owner does not exist", func(t *testing.T) {
		for _, call := range [][2]string{
			{"GET", "/v1/assets/b"}, {"DELETE", "/v1/assets/b"}, {"GET", "/v1/assets/b/dependants"},
			{"DELETE", "/v1/assets/b/parts/payload"}, {"PUT", "/v1/assets/b"}, {"GET", "/v1/assets/b/documents/description"},
			{"GET", "/v1/deletions/" + did},
			{"GET", "/v1/deletions/" + did + "/explain"}, {"GET", "/v1/deletions/" + did + "/events"}, {"POST", "/v1/deletions/" + did + "/cancel"},
			{"GET", "/v1/owners/acme/usage"},
		} {
			a := c.as("bob", call[0], call[1], mesh)
			a.problem(404, "not-found", "")
			if strings.Contains(a.Body, "acme") && !strings.Contains(call[1], "acme") {
				t.Errorf("%v tells the owner: %s", call, a.Body)
			}
		}
		c.as("bob", "POST", "/v1/assets/b/plan", "{}").problem(404, "not-found", "")
	})
	t.Run("health, metrics and pages need no caller", func(t *testing.T) {
		for _, target := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/asyncapi.yaml", "/docs", "/"} {
			c.call("GET", target, "").want(200)
		}
	})
}

func TestAListenerServesItsOwnServiceOnly(t *testing.T) {
	s := apitest.New()
	dependencyOnly := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Asset = nil })}
	assetOnly := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Dependency = nil })}
	dependencyOnly.call("PUT", "/v1/assets/a", mesh).want(201)
	dependencyOnly.call("PUT", "/v1/assets/a/documents/description", `{}`).problem(404, "not-found", "")
	dependencyOnly.call("POST", "/v1/assets/a/uploads", `{"part": "payload"}`).problem(404, "not-found", "")
	assetOnly.call("PUT", "/v1/assets/a/documents/description", `{}`).want(204)
	assetOnly.call("POST", "/v1/assets/a/uploads", `{"part": "payload"}`).want(200)
	assetOnly.call("GET", "/v1/assets/a", "").problem(404, "not-found", "")
	assetOnly.call("GET", "/v1/admin/pending", "").problem(404, "not-found", "")
	for _, c := range []caller{dependencyOnly, assetOnly} {
		for _, target := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/asyncapi.yaml", "/docs"} {
			c.call("GET", target, "").want(200)
		}
	}
}

func TestFailures(t *testing.T) {
	var log strings.Builder
	s := apitest.New()
	c := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) {
		cfg.RequestTimeout = 10 * time.Millisecond
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})}
	fail := func(err error) { s.Before = func(context.Context, string) error { return err } }

	t.Run("a store that does not answer is 503 with Retry-After", func(t *testing.T) {
		fail(fmt.Errorf("read nodes: %w", problem.New(problem.Unavailable, "the graph does not answer")))
		a := c.call("GET", "/v1/assets/a", "")
		if got := a.problem(503, "unavailable", "")["detail"]; got != "the graph does not answer" {
			t.Errorf("detail: %v", got)
		}
		if a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	})
	t.Run("a request that takes too long is 503 with Retry-After", func(t *testing.T) {
		s.Before = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return fmt.Errorf("read nodes: %w", ctx.Err())
		}
		a := c.call("GET", "/v1/assets/a", "")
		a.problem(503, "unavailable", "")
		if a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	})
	t.Run("what is no refusal is 500 without details, which are in the log", func(t *testing.T) {
		fail(errors.New("dial bolt://10.1.2.3 with s3cret"))
		a := c.call("GET", "/v1/assets/a", "")
		a.problem(500, "internal", "")
		if strings.Contains(a.Body, "s3cret") || !strings.Contains(log.String(), "s3cret") {
			t.Errorf("answer %s, log %s", a.Body, log.String())
		}
	})
	t.Run("a panic is 500 without details, which are in the log", func(t *testing.T) {
		s.Before = func(context.Context, string) error { panic("at the d1sco") }
		a := c.call("GET", "/v1/assets/a", "")
		a.problem(500, "internal", "")
		if strings.Contains(a.Body, "d1sco") || !strings.Contains(log.String(), "d1sco") {
			t.Errorf("answer %s, log %s", a.Body, log.String())
		}
	})
}

func TestDeadlines(t *testing.T) {
	s := apitest.New()
	var left time.Duration
	s.Before = func(ctx context.Context, _ string) error {
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return nil
	}
	c := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.RequestTimeout = time.Minute })}
	for _, r := range []struct {
		method, target string
		headers        []string
		most           time.Duration
	}{
		{"GET", "/v1/assets/a", []string{"Prefer", "wait=120"}, time.Minute},
		{"DELETE", "/v1/assets/a", nil, time.Minute},
		{"DELETE", "/v1/assets/a", []string{"Prefer", "wait=120"}, 3 * time.Minute},
		{"DELETE", "/v1/assets/a", []string{"Prefer", "wait=999999"}, 11 * time.Minute},
		{"POST", "/v1/assets", []string{"Content-Type", "application/x-ndjson"}, 6 * time.Hour},
	} {
		c.call(r.method, r.target, "", r.headers...)
		if left > r.most || left < r.most-30*time.Second {
			t.Errorf("%s %s %v: the service has %s, expected about %s", r.method, r.target, r.headers, left, r.most)
		}
	}
}

func TestPagesFromElsewhereMayNotChangeAnything(t *testing.T) {
	c, _ := serve(t)
	for _, h := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		c.call("PUT", "/v1/assets/a", mesh, h...).problem(403, "forbidden", "Origin")
		c.call("GET", "/v1/assets", "", h...).want(200)
	}
	c.call("PUT", "/v1/assets/a", mesh, "Sec-Fetch-Site", "same-origin").want(201)
}

func TestReady(t *testing.T) {
	down := errors.New("connection refused to s3cret")
	var graph error
	var log bytes.Buffer
	c := caller{t, apitest.Handler(t, apitest.New(), func(cfg *httpapi.Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		cfg.Checks = []httpapi.Check{
			{Name: "graph", Ping: func(context.Context) error { return graph }},
			{Name: "broker", Ping: func(context.Context) error { return nil }},
		}
	})}
	if got := c.call("GET", "/readyz", "").want(200).Body; got != `{"checks":{"broker":"ok","graph":"ok"},"status":"ok"}`+"\n" {
		t.Errorf("ready: %s", got)
	}
	graph = down
	a := c.call("GET", "/readyz", "")
	got := a.problem(503, "unavailable", "")
	if detail, _ := got["detail"].(string); !strings.Contains(detail, "graph") || strings.Contains(detail, "broker") || strings.Contains(a.Body, "s3cret") {
		t.Errorf("not ready: %s", a.Body)
	}
	c.call("GET", "/readyz", "").want(503)
	graph = nil
	for range 2 {
		c.call("GET", "/readyz", "").want(200)
	}
	if text := log.String(); strings.Count(text, "does not answer") != 1 || strings.Count(text, "answers again") != 1 {
		t.Errorf("each change is told once:\n%s", text)
	}
	c.call("GET", "/healthz", "").want(200)
}

func TestMetricsCountRoutesNotPaths(t *testing.T) {
	c, _ := serve(t)
	c.call("PUT", "/v1/assets/a%2Fb", mesh).want(201)
	c.call("GET", "/v1/assets/nobody", "").want(404)
	c.call("BREW", "/v1/assets/nobody", "").want(405)
	c.call("GET", "/secret-path", "").want(404)
	text := c.call("GET", "/metrics", "").want(200).Body
	for _, want := range []string{
		`tombstone_http_requests_total{code="201",method="PUT",route="/v1/assets/{id}"} 1`,
		`tombstone_http_requests_total{code="404",method="GET",route="/v1/assets/{id}"} 1`,
		`tombstone_http_requests_total{code="405",method="other",route="none"} 1`,
		`tombstone_http_requests_total{code="404",method="GET",route="none"} 1`,
		`tombstone_http_request_duration_seconds_count{method="PUT",route="/v1/assets/{id}"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret-path") || strings.Contains(text, "nobody") {
		t.Error("a path became a label")
	}
}

func TestPages(t *testing.T) {
	c, _ := serve(t)
	document := c.call("GET", "/openapi.json", "").want(200).json()
	paths, _ := document["paths"].(map[string]any)
	if version, _ := document["openapi"].(string); !strings.HasPrefix(version, "3.1") || len(paths) < 20 {
		t.Errorf("OpenAPI %v with %d paths", document["openapi"], len(paths))
	}
	schemas, _ := document["components"].(map[string]any)["schemas"].(map[string]any)
	for _, ref := range regexp.MustCompile(`"#/components/schemas/(\w+)"`).FindAllStringSubmatch(c.call("GET", "/openapi.json", "").Body, -1) {
		if schemas[ref[1]] == nil {
			t.Errorf("the document refers to %s, which it does not have", ref[1])
		}
	}
	for target, want := range map[string]string{"/": `href="./docs"`, "/docs": "/v1/assets/{id}"} {
		a := c.call("GET", target, "").want(200)
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || !strings.Contains(a.Body, want) {
			t.Errorf("%s: %s", target, a.Body)
		}
		policy := a.Header.Get("Content-Security-Policy")
		own := strings.ReplaceAll(a.Body, `<script src="page.js" defer></script>`, "")
		if !strings.Contains(policy, "default-src 'none'; script-src 'self';") || strings.Contains(own, "<script") || strings.Contains(own, "//") {
			t.Errorf("%s asks for other scripts or for other hosts; policy %q", target, policy)
		}
	}
	c.call("GET", "/style.css", "").want(200)
}

func TestConfigIsChecked(t *testing.T) {
	_, err := httpapi.New(httpapi.Config{Dependency: apitest.New()})
	if err == nil || !strings.Contains(err.Error(), "are required") {
		t.Errorf("got %v", err)
	}
	if _, err = httpapi.New(httpapi.Config{}); err == nil || !strings.Contains(err.Error(), "no service") {
		t.Errorf("got %v", err)
	}
}

func TestServerHasLimits(t *testing.T) {
	s := httpapi.NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if s.ReadHeaderTimeout == 0 || s.IdleTimeout == 0 || s.WriteTimeout != 0 || s.ReadTimeout != 0 {
		t.Errorf("limits of the server: %+v", s)
	}
}
