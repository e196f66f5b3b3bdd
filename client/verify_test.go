package client_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestVerify(t *testing.T) {
	c, s := dial(t)
	if v := must[dependency.Verification](t)(c.Verify(t.Context(), dependency.VerifyRequest{})); v.Total != 0 || v.Violations == nil {
		t.Errorf("sound: %+v", v)
	}
	want := dependency.Verification{Total: 1, Violations: []dependency.Violation{{Guarantee: "G3", Asset: "a", Part: "p", Deletion: "d", Found: "f", Do: "g"}}}
	s.Violate(want.Violations...)
	if diff := cmp.Diff(want, must[dependency.Verification](t)(c.Verify(t.Context(), dependency.VerifyRequest{}))); diff != "" {
		t.Error(diff)
	}
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	must[dependency.Verification](t)(c.Verify(t.Context(), dependency.VerifyRequest{Since: &since}))
	if got := s.Verified(); len(got) != 3 || got[0].Since != nil || !got[2].Since.Equal(since) {
		t.Errorf("asked for %+v", got)
	}
}
