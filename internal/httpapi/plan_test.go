package httpapi_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
)

func TestPlan(t *testing.T) {
	s := apitest.New()
	c := caller{t, apitest.Handler(t, s)}
	c.call("PUT", "/v1/assets/a%2F1", mesh).want(201)
	c.call("PUT", "/v1/assets/user", `{"kind":"mesh","links":[{"type":"DEPENDS_ON","to":"a/1"}]}`).want(201)
	const path = "/v1/assets/a%2F1/plan"
	for _, body := range []string{"", "{}", `{"with_dependants":false}`} { // the body may be left out
		got := c.call("POST", path, body).want(200).json()
		blockers, _ := got["blockers"].([]any)
		if len(blockers) != 1 || got["blockers_total"] != 1.0 || got["hash"] != "1" || got["bytes"] != 12.0 {
			t.Errorf("with body %q: %v", body, got)
		}
		for _, list := range []string{"assets", "links", "documents", "objects", "blockers", "kept"} {
			if _, ok := got[list].([]any); !ok {
				t.Errorf("with body %q: %s is %v, want a list", body, list, got[list])
			}
		}
	}
	if got := c.call("POST", path, `{"with_dependants":true}`).want(200).json(); len(got["assets"].([]any)) != 2 || len(got["blockers"].([]any)) != 0 {
		t.Errorf("with dependants: %v", got)
	}
	if got := c.call("POST", path, `{"graph_only":true}`).want(200).json(); len(got["assets"].([]any)) != 1 || len(got["objects"].([]any)) != 0 || got["hash"] != "" {
		t.Errorf("of the graph alone: %v", got)
	}
	c.call("POST", path, `{"with_dependants":"maybe"}`).problem(422, "invalid-request", "with_dependants")
	c.call("POST", path, `{"dependants":true}`).problem(422, "invalid-request", "dependants")
	c.call("POST", "/v1/assets/nobody/plan", "").problem(404, "not-found", "")
	s.Before = func(context.Context, string) error {
		return problem.New(problem.Unavailable, "away").With("store", "asset service")
	}
	if a := c.call("POST", path, ""); a.problem(503, "unavailable", "")["store"] != "asset service" || a.Header.Get("Retry-After") == "" {
		t.Errorf("away: %v %s", a.Header, a.Body)
	}
}

func TestAPlanAndADeletionByPlanHaveTimeToLook(t *testing.T) {
	s := apitest.New()
	left := map[string]time.Duration{}
	s.Before = func(ctx context.Context, call string) error {
		deadline, _ := ctx.Deadline()
		left[call] = time.Until(deadline)
		return nil
	}
	c := caller{t, apitest.Handler(t, s)}
	c.call("PUT", "/v1/assets/plan", mesh).want(201)
	c.call("POST", "/v1/assets/plan/plan", "").want(200)
	c.call("DELETE", "/v1/assets/plan", "", "If-Plan", "x").want(http.StatusAccepted)
	if left["PutAsset"] > time.Minute || left["Plan"] < 5*time.Minute || left["Delete"] < 5*time.Minute {
		t.Errorf("time left: %v", left)
	}
}
