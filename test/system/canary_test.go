package system

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const canaryText = policyText + "canary: {every: 200ms, bucket: %[1]s}\n"

func TestCanariesGoThroughAllStoresAndDisturbNothing(t *testing.T) {
	s := Embedded(t)
	t.Run("both services in one process", func(t *testing.T) { testCanary(t, StartWith(t, s, app.All, canaryText)) })
	t.Run("each service in its own", func(t *testing.T) {
		sys := StartWith(t, s, app.Dependency, canaryText)
		StartWith(t, s, app.Asset, canaryText)
		testCanary(t, sys)
	})
}

func testCanary(t *testing.T, sys *System) {
	const deleted = `tombstone_deletions_total{result="deleted"}`
	Eventually(t, "canaries", func() error {
		m := sys.metrics()
		if age, ok := m["tombstone_canary_seconds"]; !ok || m[deleted] < 3 || age > 60 {
			return fmt.Errorf("age %v (%v), deletions %v", age, ok, m[deleted])
		}
		return nil
	})
	assets, err := sys.Assets(t.Context(), dependency.AssetQuery{})
	deletions, err2 := sys.Deletions(t.Context(), dependency.DeletionQuery{})
	verified, err3 := sys.Verify(t.Context(), dependency.VerifyRequest{})
	swept, err4 := sys.Sweep(t.Context(), false)
	if p := problem.As(err4); p != nil && p.Name == problem.EmptyGraph { // between two canaries
		err4 = nil
	}
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if len(assets.Items) > 1 || len(deletions.Items) > 1 {
		t.Errorf("they are not forgotten: %d assets, %d deletions", len(assets.Items), len(deletions.Items))
	}
	if verified.Total > 0 {
		t.Errorf("violations: %+v", verified.Violations)
	}
	for _, c := range swept.Candidates {
		if c.Place != "" { // what is empty is one that is not written yet
			t.Errorf("an orphan: %+v", c)
		}
	}
	for _, a := range assets.Items {
		if !strings.HasPrefix(a.ID, sys.Stores.Namespace+"-canary-") {
			t.Errorf("an asset: %+v", a)
		}
	}
}
