package httpapi_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestOverview(t *testing.T) {
	s := apitest.New()
	c := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Auth = callers })}
	c.as("alice", "PUT", "/v1/assets/a", mesh).want(201)
	c.as("alice", "DELETE", "/v1/assets/a", "").want(202)
	for who, want := range map[string]float64{"alice": 1, "op": 1, "bob": 0} {
		got := c.as(who, "GET", "/v1/overview", "").want(200).json()
		if got["requested"] != want || got["deleting"] != want || got["completed"] != 0.0 || (got["flags"] != nil) != (who == "op") {
			t.Errorf("%s: %v", who, got)
		}
	}
	c.as("nobody", "GET", "/v1/overview", "").problem(401, "unauthenticated", "")
}

func TestFollowingAllDeletions(t *testing.T) {
	s := apitest.New()
	url := apitest.Serve(t, s, func(cfg *httpapi.Config) {
		cfg.Auth, cfg.RequestTimeout = callers, time.Minute
	})
	c := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Auth = callers })}
	c.as("bob", "PUT", "/v1/assets/bobs", mesh).want(201)
	c.as("alice", "PUT", "/v1/assets/a", mesh).want(201)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/deletions/events", nil)
	r.Header.Set("Authorization", "Bearer alice")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if media := res.Header.Get("Content-Type"); res.StatusCode != 200 || media != "text/event-stream" {
		t.Fatalf("%s, %s", res.Status, media)
	}
	c.as("bob", "DELETE", "/v1/assets/bobs", "").want(202)
	c.as("alice", "DELETE", "/v1/assets/a", "").want(202)
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var change dependency.Change
		if err := json.Unmarshal([]byte(data), &change); err != nil || change.Root != "a" || change.Status != dependency.Deleting {
			t.Errorf("told %s: %v", data, err)
		}
		break
	}
	c.as("nobody", "GET", "/v1/deletions/events", "").problem(401, "unauthenticated", "")
	if a := c.as("alice", "HEAD", "/v1/deletions/events", "").want(200); a.Body != "" {
		t.Errorf("HEAD: %q", a.Body)
	}
}
