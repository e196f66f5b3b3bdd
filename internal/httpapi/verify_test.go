package httpapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestVerify(t *testing.T) {
	c, s := serve(t)
	const path = "/v1/admin/verify"
	c.call("PUT", "/v1/assets/a", mesh).want(201)
	sound := map[string]any{"checked": 1.0, "total": 0.0, "violations": []any{}}
	for _, body := range []string{"", "{}"} {
		if diff := cmp.Diff(sound, c.call("POST", path, body).want(200).json()); diff != "" {
			t.Errorf("with body %q:\n%s", body, diff)
		}
	}
	s.Violate(dependency.Violation{Guarantee: "G3", Asset: "a", Generation: "g", Part: "p", Deletion: "d", Found: "f", Do: "d"},
		dependency.Violation{Guarantee: "G8", Owner: "acme", Found: "f", Do: "d"})
	want := map[string]any{"checked": 1.0, "total": 2.0, "violations": []any{
		map[string]any{"guarantee": "G3", "asset": "a", "generation": "g", "part": "p", "deletion": "d", "found": "f", "do": "d"},
		map[string]any{"guarantee": "G8", "owner": "acme", "found": "f", "do": "d"}}}
	if diff := cmp.Diff(want, c.call("POST", path, "").want(200).json()); diff != "" {
		t.Error(diff)
	}
	c.call("POST", path, `{"since":"2026-03-01T12:00:00Z"}`).want(200)
	if asked := s.Verified(); !asked[len(asked)-1].Since.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("asked for %v", asked)
	}
	c.call("POST", path, `{"since":"yesterday"}`).problem(422, "invalid-request", "since")
	s.Before = func(ctx context.Context, _ string) error {
		if deadline, _ := ctx.Deadline(); time.Until(deadline) < time.Hour {
			t.Errorf("time left: %v", time.Until(deadline))
		}
		return problem.New(problem.Unavailable, "away")
	}
	c.call("POST", path, "").problem(503, "unavailable", "")
}
