package system

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// TestWhatARestoredStoreHasAgainGoesAgain puts a backup in the place of the documents, or of the objects, that is older than
// some deletions, and follows docs/operations.md. What live assets have in the backup stays, old generations beside them go.
func TestWhatARestoredStoreHasAgainGoesAgain(t *testing.T) {
	t.Run("documents, and the ledger with them", func(t *testing.T) {
		restoring(t, []string{"again", "gone", "noted"}, func(t *testing.T, s *Stores) func() error {
			backup, err := s.BackupDocuments(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return func() error { return s.RestoreDocuments(t.Context(), backup) }
		})
	})
	t.Run("objects", func(t *testing.T) {
		restoring(t, []string{"again", "gone"}, func(t *testing.T, s *Stores) func() error {
			backup, err := s.BackupObjects(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return func() error { return s.RestoreObjects(t.Context(), backup) }
		})
	})
}

// restoring takes a backup, deletes, restores, and wants exactly the assets named to have something again, and then not.
func restoring(t *testing.T, back []string, backup func(t *testing.T, s *Stores) (restore func() error)) {
	s := Embedded(t)
	sys := Start(t, s, app.All)
	sys.Fill(sys.Create("mesh", "stays"))
	gone, again := sys.Fill(sys.Create("mesh", "gone")), sys.Fill(sys.Create("mesh", "again"))
	noted := sys.Create("item", "noted")
	if err := sys.PutDocument(t.Context(), noted.ID, "note", map[string]any{"text": "remember"}, ""); err != nil {
		t.Fatal(err)
	}
	restore, since := backup(t, s), time.Now()
	for _, a := range []dependency.Asset{gone, again, noted} {
		sys.Finish(a.ID)
	}
	sys.Fill(sys.Create("mesh", "again"))

	if err := sys.Pause(t.Context(), "restoring"); err != nil {
		t.Fatal(err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(back, whatIsBack(t, sys, since)); diff != "" {
		t.Errorf("verify names (-want +got):\n%s", diff)
	}
	kept := s.Snapshot(t).Without("gone").Without(again.Generation).Without("noted")
	if err := sys.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := sys.Verify(t.Context(), dependency.VerifyRequest{Since: &since, Apply: true})
	if err != nil || v.Driven != len(back) {
		t.Errorf("verify, applied: %+v, %v", v, err)
	}
	Eventually(t, "nothing is back", func() error {
		if left := whatIsBack(t, sys, since); len(left) > 0 {
			return fmt.Errorf("of %v", left)
		}
		return nil
	})
	if diff := cmp.Diff(kept, s.Snapshot(t)); diff != "" {
		t.Errorf("in the stores afterwards (-want +got):\n%s", diff)
	}
}

// whatIsBack is which assets have something again, as verify tells.
func whatIsBack(t *testing.T, sys *System, since time.Time) []string {
	t.Helper()
	v, err := sys.Verify(t.Context(), dependency.VerifyRequest{Since: &since})
	if err != nil {
		t.Fatal(err)
	}
	assets := []string{}
	for _, x := range v.Violations {
		assets = append(assets, x.Asset)
	}
	slices.Sort(assets)
	return slices.Compact(assets)
}
