package httpapi_test

import (
	"testing"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

func TestGrants(t *testing.T) {
	c, _ := serve(t)
	c.call("PUT", "/v1/assets/a%2F1", mesh).want(201)
	up := c.call("POST", "/v1/assets/a%2F1/uploads", `{"part": "payload", "name": "sub/x.bin", "bytes": 7, "ttl": "1m30s"}`).want(200).json()
	headers, _ := up["headers"].(map[string]any)
	if up["method"] != "PUT" || up["key"] != "payload/sub/x.bin" || up["url"] == "" || headers["Content-Length"] != "7" || up["expires_at"] != "2026-01-01T00:01:30Z" {
		t.Errorf("upload: %v", up)
	}
	down := c.call("POST", "/v1/assets/a%2F1/downloads", `{"part": "payload", "name": "sub/x.bin"}`).want(200).json()
	if headers, ok := down["headers"].(map[string]any); down["method"] != "GET" || !ok || len(headers) != 0 {
		t.Errorf("download: %v", down)
	}
	for body, field := range map[string]string{
		`{"name": "x"}`: "part", `{"part": "", "name": "x"}`: "part", `{"part": "p", "ttl": "soon"}`: "ttl", `{"part": "p", "ttl": "-5m"}`: "ttl",
		`{"part": "p", "ttl": "0s"}`: "ttl", `{"part": "p", "ttl": "60"}`: "ttl", `{"part": "p", "bytes": 0}`: "bytes", `{"part": "p", "bytes": -1}`: "bytes",
		`{"part": "p", "bytes": 5368709121}`: "bytes", `{"part": "p", "path": "x"}`: "path",
	} {
		c.call("POST", "/v1/assets/a%2F1/uploads", body).problem(422, "invalid-request", field)
	}
	c.call("POST", "/v1/assets/a%2F1/downloads", `{"part": "p", "bytes": 7}`).problem(422, "invalid-request", "bytes")
}

func TestLeases(t *testing.T) {
	c, s := serve(t)
	c.call("PUT", "/v1/assets/a", mesh).want(201)
	lease := c.call("POST", "/v1/assets/a/leases", `{"ttl": "1m"}`).want(201).json()
	token, _ := lease["token"].(string)
	if token == "" || lease["expires_at"] != "2026-01-01T00:01:00Z" {
		t.Fatalf("lease: %v", lease)
	}
	c.call("POST", "/v1/assets/a/leases", `{}`).want(201)
	renewed := c.call("PUT", "/v1/assets/a/leases/"+token, `{"attributes": {"state": "done"}}`).want(200).json()
	if renewed["token"] != token {
		t.Errorf("renewed: %v", renewed)
	}
	if attributes, _ := c.call("GET", "/v1/assets/a", "").want(200).json()["attributes"].(map[string]any); attributes["state"] != "done" {
		t.Errorf("attributes: %v", attributes)
	}
	c.call("PUT", "/v1/assets/a/leases/another", `{}`).problem(409, "lease-lost", "")
	c.call("PUT", "/v1/assets/a/leases/"+token, `{"ttl": "never"}`).problem(422, "invalid-request", "ttl")
	c.call("PUT", "/v1/assets/a/documents/description", `{}`, "Lease-Token", token).want(204)
	if got := s.Leases(); len(got) != 1 || got[0] != token {
		t.Errorf("lease tokens with documents: %v", got)
	}
}

func TestGrantsAndLeasesOfAnotherOwnerDoNotExist(t *testing.T) {
	s := apitest.New()
	c := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Auth = callers })}
	c.as("alice", "PUT", "/v1/assets/a", mesh).want(201)
	for _, call := range [][3]string{
		{"POST", "uploads", `{"part": "payload", "name": "x"}`}, {"POST", "downloads", `{"part": "payload", "name": "x"}`}, {"POST", "leases", `{}`}, {"PUT", "leases/the-lease", `{}`},
	} {
		c.as("bob", call[0], "/v1/assets/a/"+call[1], call[2]).problem(404, "not-found", "")
		c.as("wrong", call[0], "/v1/assets/a/"+call[1], "{").problem(401, "unauthenticated", "")
	}
}
