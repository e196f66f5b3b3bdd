package client_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestVerify(t *testing.T) {
	c, s := dial(t)
	if v := must[dependency.Verification](t)(c.Verify(t.Context())); v.Total != 0 || v.Violations == nil {
		t.Errorf("sound: %+v", v)
	}
	want := dependency.Verification{Total: 1, Violations: []dependency.Violation{{Guarantee: "G3", Asset: "a", Part: "p", Deletion: "d", Found: "f", Do: "g"}}}
	s.Violate(want.Violations...)
	if diff := cmp.Diff(want, must[dependency.Verification](t)(c.Verify(t.Context()))); diff != "" {
		t.Error(diff)
	}
}
