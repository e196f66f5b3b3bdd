// Package invariants holds a whole installation, when it is quiet, to the guarantees of docs/architecture.md: what its API
// tells, what its stores hold, and what its feed has, against what a test knows to have happened.
package invariants

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/stores"
)

// World is one installation.
type World struct {
	API    *client.Client // as operator
	URL    string         // of the same
	Stores *stores.Stores // by their own addresses, without proxies
}

// Facts are what a test knows.
type Facts struct {
	// Deletions are those accepted, all of them: id → root.
	Deletions map[string]string
	// Left is what the stores must hold, and nothing else.
	Left stores.Snapshot
	// Truth is what was there of each erased part, and what its evidence must say. Erased parts that it does not know were empty.
	Truth map[PartOf]Amount
	// LedgerLost says that evidence may count less than there was.
	LedgerLost bool
}

// PartOf names a part of one generation of an asset.
type PartOf struct{ Asset, Generation, Part string }

// Amount is what evidence counts.
type Amount struct{ Documents, Objects, Bytes int64 }

// Check holds the installation to every guarantee. It repeats deletions, which must change nothing.
func Check(t *testing.T, w World, f Facts) {
	t.Helper()
	assets := everything(t, "assets", func(cursor string) (dependency.Page[dependency.Asset], error) {
		return w.API.Assets(t.Context(), dependency.AssetQuery{Cursor: cursor, Limit: 500})
	})
	deletions := everything(t, "deletions", func(cursor string) (dependency.Page[dependency.Deletion], error) {
		return w.API.Deletions(t.Context(), dependency.DeletionQuery{Cursor: cursor, Limit: 500})
	})
	w.checkStores(t, f)
	w.checkDeletions(t, f, deletions)
	w.checkAssets(t, f, assets)
	w.checkVerified(t)
	trails := w.readTrails(t, assets)
	checkTrails(t, trails)
	w.checkFeed(t, trails)
	w.checkRepeats(t, assets)
	w.checkStores(t, f)
}

// everything reads all pages of a list.
func everything[T any](t *testing.T, what string, page func(cursor string) (dependency.Page[T], error)) (all []T) {
	t.Helper()
	for cursor := ""; ; {
		p, err := page(cursor)
		if err != nil {
			t.Fatalf("list %s: %v", what, err)
		}
		all = append(all, p.Items...)
		if cursor = p.NextCursor; cursor == "" {
			return all
		}
	}
}

// checkStores is G2 and G3: what nobody deleted is there unchanged, and nothing else.
func (w World) checkStores(t *testing.T, f Facts) {
	t.Helper()
	if diff := cmp.Diff(f.Left, w.Stores.Snapshot(t)); diff != "" {
		t.Errorf("G2/G3: the stores hold (-want +got):\n%s", diff)
	}
}

// checkDeletions is G1: each accepted deletion is done, there are no others, and no command is left.
func (w World) checkDeletions(t *testing.T, f Facts, deletions []dependency.Deletion) {
	t.Helper()
	found := map[string]string{}
	for _, d := range deletions {
		found[d.ID] = d.Root
		if d.Status != dependency.Deleted || d.Assets.Deleted != d.Assets.Total || d.CompletedAt == nil || d.SentAt == nil || d.Blocked != nil || d.Stalled {
			t.Errorf("G1: deletion %+v", d)
		}
	}
	if diff := cmp.Diff(f.Deletions, found); diff != "" {
		t.Errorf("G1/G5: deletions (-accepted +found):\n%s", diff)
	}
	// A flag may outlive its deletion by the two seconds that its removal may wait, and by a claim.
	var flags []dependency.PendingFlag
	if !within(t, 30*time.Second, func() bool {
		flags = everything(t, "flags", func(cursor string) (dependency.Page[dependency.PendingFlag], error) {
			return w.API.Pending(t.Context(), cursor)
		})
		return len(flags) == 0
	}) {
		t.Errorf("G1: flags are left: %+v", flags)
	}
}

// checkAssets is G3: what the API calls erased is what the deletions took, with evidence that is true.
func (w World) checkAssets(t *testing.T, f Facts, assets []dependency.Asset) {
	t.Helper()
	for _, a := range assets {
		if a.Status == dependency.Deleting {
			t.Errorf("G1: %s is still deleting", a.ID)
		}
		for name, p := range a.Parts {
			if want := partStatus(a.Status); p.Status != want {
				t.Errorf("G3: %s is %s, and its part %s %s", a.ID, a.Status, name, p.Status)
			}
		}
	}
	for id := range f.Deletions {
		w.checkEvidence(t, f, id)
	}
}

func partStatus(s dependency.Status) string {
	if s == dependency.Deleted {
		return dependency.PartErased
	}
	return dependency.PartPresent
}

func (w World) checkEvidence(t *testing.T, f Facts, deletion string) {
	t.Helper()
	for cursor := ""; ; {
		d, err := w.API.Deletion(t.Context(), deletion, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Steps {
			want := f.Truth[PartOf{s.Asset, s.Generation, s.Part}]
			if got := (Amount{s.Documents, s.Objects, s.Bytes}); !f.holds(got, want) || s.Status != dependency.StepErased || s.ErasedAt == nil {
				t.Errorf("G3: evidence of %s %s %s: %+v, in truth %+v", s.Asset, s.Generation, s.Part, s.Step, want)
			}
		}
		if cursor = d.NextCursor; cursor == "" {
			return
		}
	}
}

// holds tells whether evidence is true.
func (f Facts) holds(got, want Amount) bool {
	less := got.Documents <= want.Documents && got.Objects <= want.Objects && got.Bytes <= want.Bytes
	return got == want || f.LedgerLost && less
}

// checkVerified holds the installation to what it verifies itself: G4, G8 and the trails above all, and of the others what can
// be seen without knowing what has happened. A store that was away a moment ago is asked again.
func (w World) checkVerified(t *testing.T) {
	t.Helper()
	var v dependency.Verification
	var err error
	if !within(t, 30*time.Second, func() bool {
		v, err = w.API.Verify(t.Context(), dependency.VerifyRequest{})
		return err == nil
	}) {
		t.Fatalf("verify: %v", err)
	}
	for _, found := range v.Violations {
		t.Errorf("%s: verify: %+v", found.Guarantee, found)
	}
}

// checkRepeats is G5: the same request again gives the same deletion, and changes nothing.
func (w World) checkRepeats(t *testing.T, assets []dependency.Asset) {
	t.Helper()
	for _, a := range assets {
		if a.Status != dependency.Deleted {
			continue
		}
		d, err := w.API.Delete(t.Context(), a.ID, dependency.DeleteRequest{Reason: "repeat"})
		if err != nil || d.ID != a.Deletion || d.Status != dependency.Deleted {
			t.Errorf("G5: deleting %s again gives deletion %s (%s), %v; it was %s", a.ID, d.ID, d.Status, err, a.Deletion)
		}
		if again, err := w.API.Asset(t.Context(), a.ID); err != nil || again.Generation != a.Generation || again.UpdatedAt != a.UpdatedAt {
			t.Errorf("G5: the repeat changed %+v to %+v, %v", a, again, err)
		}
	}
}
