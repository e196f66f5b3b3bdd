package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestRetention(t *testing.T) {
	c, s := dial(t)
	oldest := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	want := dependency.Expired{
		Findings: dependency.Findings{Candidates: []dependency.Candidate{{Asset: "a/1", Part: "raw", Reason: "old"}}, Total: 1, ExceedsShare: []dependency.OwnerShare{}},
		Groups:   []dependency.ExpiredGroup{{Kind: "check", Part: "raw", Owner: "acme", Total: 1}}, Left: dependency.Left{Held: 1}, Oldest: &oldest,
	}
	s.Expire(want)
	for _, apply := range []bool{false, true} {
		want.Applied = apply
		if diff := cmp.Diff(want, must[dependency.Expired](t)(c.Retention(t.Context(), apply))); diff != "" {
			t.Errorf("apply %t:\n%s", apply, diff)
		}
	}
	s.Expire(dependency.Expired{Findings: dependency.Findings{ExceedsShare: []dependency.OwnerShare{{Owner: "acme", Candidates: 2, Live: 3}}}})
	if _, err := c.Retention(t.Context(), true); !errors.Is(err, problem.ShareExceeded) {
		t.Errorf("too much at once: %v", err)
	}
}

func TestSweep(t *testing.T) {
	c, s := dial(t)
	if _, err := c.Sweep(t.Context(), true); !errors.Is(err, problem.EmptyGraph) {
		t.Errorf("an empty graph: %v", err)
	}
	must[dependency.Asset](t)(first(c.PutAsset(t.Context(), "a/1", mesh)))
	want := dependency.Findings{Candidates: []dependency.Candidate{{Asset: "b", Part: "raw", Place: "assets/raw/b/", Reason: "old", Bytes: 7}}, Total: 1, Bytes: 7,
		ExceedsShare: []dependency.OwnerShare{}}
	s.Orphan(want)
	want.Applied = true
	if diff := cmp.Diff(want, must[dependency.Findings](t)(c.Sweep(t.Context(), true))); diff != "" {
		t.Error(diff)
	}
}
