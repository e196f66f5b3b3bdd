package httpapi_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestRetention(t *testing.T) {
	c, s := serve(t)
	const path = "/v1/admin/retention"
	nothing := map[string]any{"candidates": []any{}, "total": 0.0, "bytes": 0.0, "applied": false, "exceeds_share": []any{}, "groups": []any{},
		"left": map[string]any{"held": 0.0, "dependants": 0.0}}
	for _, body := range []string{"{}", `{"apply":false}`} {
		if diff := cmp.Diff(nothing, c.call("POST", path, body).want(200).json()); diff != "" {
			t.Errorf("nothing has expired, %s:\n%s", body, diff)
		}
	}
	oldest := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	found := dependency.Expired{
		Findings: dependency.Findings{Candidates: []dependency.Candidate{{Asset: "a", Part: "raw", Reason: "old"}, {Asset: "b", Reason: "old", Bytes: 7}}, Total: 2, Bytes: 7},
		Groups:   []dependency.ExpiredGroup{{Kind: "check", Part: "raw", Owner: "acme", Total: 1}, {Kind: "mesh", Owner: "acme", Total: 1, Bytes: 7}},
		Left:     dependency.Left{Held: 1, Dependants: 2}, Oldest: &oldest,
	}
	s.Expire(found)
	want := map[string]any{
		"candidates": []any{map[string]any{"asset": "a", "part": "raw", "reason": "old", "bytes": 0.0}, map[string]any{"asset": "b", "reason": "old", "bytes": 7.0}},
		"total":      2.0, "bytes": 7.0, "applied": true, "exceeds_share": []any{}, "oldest": "2026-03-01T12:00:00Z",
		"groups": []any{map[string]any{"kind": "check", "part": "raw", "owner": "acme", "total": 1.0, "bytes": 0.0},
			map[string]any{"kind": "mesh", "owner": "acme", "total": 1.0, "bytes": 7.0}},
		"left": map[string]any{"held": 1.0, "dependants": 2.0},
	}
	if diff := cmp.Diff(want, c.call("POST", path, `{"apply":true}`).want(200).json()); diff != "" {
		t.Error(diff)
	}
	found.ExceedsShare = []dependency.OwnerShare{{Owner: "acme", Candidates: 2, Live: 3}}
	s.Expire(found)
	p := c.call("POST", path, `{"apply":true}`)
	p.problem(409, "share-exceeded", "")
	if diff := cmp.Diff([]any{map[string]any{"owner": "acme", "candidates": 2.0, "live": 3.0}}, p.json()["exceeds_share"]); diff != "" {
		t.Error(diff)
	}
	c.call("POST", path, `{"apply":"yes"}`).problem(422, "invalid-request", "apply")
	c.call("POST", path, `{"aply":true}`).problem(422, "invalid-request", "aply")
	c.call("POST", path, "").problem(422, "invalid-request", "body")
	c.call("GET", path, "").problem(405, "method-not-allowed", "")
}

func TestSweep(t *testing.T) {
	c, s := serve(t)
	const path = "/v1/admin/sweep"
	c.call("POST", path, "{}").problem(409, "empty-graph", "")
	c.call("PUT", "/v1/assets/a", mesh).want(201)
	s.Orphan(dependency.Findings{Candidates: []dependency.Candidate{{Asset: "b", Part: "raw", Place: "assets/raw/b/", Reason: "old", Bytes: 7}}, Total: 1, Bytes: 7})
	for _, apply := range []bool{false, true} {
		want := map[string]any{"candidates": []any{map[string]any{"asset": "b", "part": "raw", "place": "assets/raw/b/", "reason": "old", "bytes": 7.0}},
			"total": 1.0, "bytes": 7.0, "applied": apply, "exceeds_share": []any{}}
		if diff := cmp.Diff(want, c.call("POST", path, fmt.Sprintf(`{"apply":%t}`, apply)).want(200).json()); diff != "" {
			t.Error(diff)
		}
	}
	c.call("POST", path, `{"aply":true}`).problem(422, "invalid-request", "aply")
	c.call("GET", path, "").problem(405, "method-not-allowed", "")
}
