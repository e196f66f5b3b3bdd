package timelapse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// put writes one object.
func (w *world) put(bucket, key, content string) {
	w.Helper()
	if err := w.blobs.Put(w.ctx, bucket, key, strings.NewReader(content), int64(len(content))); err != nil {
		w.Fatal(err)
	}
}

// swept is a sweep with apply and time for what it begins; it lists what was found.
func (w *world) swept(r *replica) (found []string) {
	w.Helper()
	f, err := r.Sweep(w.ctx, true)
	if err != nil {
		w.Fatal(err)
	}
	for _, c := range f.Candidates {
		found = append(found, c.Asset+" "+c.Part)
	}
	pass(time.Minute)
	slices.Sort(found)
	return found
}

// same fails the test unless the stores hold what they held.
func (w *world) same(when string, want map[string]string) {
	w.Helper()
	if diff := cmp.Diff(want, w.stored()); diff != "" {
		w.Errorf("%s, the stores (-want +got):\n%s", when, diff)
	}
}

// After a store was restored from a backup, verify names what is there again and was deleted since, and a sweep erases it
// once it is old enough; nothing else is touched, and the trail says who.
func TestWhatARestoredBackupBringsBackIsFoundAndErasedAgain(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		w.fill(r, "mesh", "stay", 8) // more than what comes back, so that no share is exceeded
		live := w.stored()
		gone := w.fill(r, "mesh", "gone", 3)
		dids := w.delete(r, w.fill(r, "mesh", "before", 1)) // it is not in the backup any more
		pass(time.Minute)
		backup := time.Now()
		pass(time.Minute)
		dids = append(dids, w.delete(r, gone)...)
		pass(time.Minute)
		w.same("when all is deleted", live)

		for _, id := range gone { // the backup of both stores
			a, err := r.Asset(w.ctx, id)
			if err != nil {
				w.Fatal(err)
			}
			w.put("assets", "payload/"+id+"/"+a.Generation+"/one", id)
			if err := w.documents.Put(w.ctx, asset.DocumentRef{Collection: "notes", Key: id + "/" + a.Generation, Generation: a.Generation, Fenced: true}, map[string]any{"of": id}); err != nil {
				w.Fatal(err)
			}
		}
		v, err := r.Verify(w.ctx, dependency.VerifyRequest{Since: &backup})
		if err != nil {
			w.Fatal(err)
		}
		var named []string
		for _, x := range v.Violations {
			named = append(named, x.Asset+" "+x.Part)
		}
		slices.Sort(named)
		want := []string{"gone-0 note", "gone-0 payload", "gone-1 note", "gone-1 payload", "gone-2 note", "gone-2 payload"}
		if diff := cmp.Diff(want, named); diff != "" || v.Checked != 3 {
			w.Errorf("verify has checked %d and names (-want +got):\n%s", v.Checked, diff)
		}
		if found := w.swept(r); len(found) != 0 {
			w.Errorf("found before it is old: %q", found)
		}
		pass(25 * time.Hour)
		if diff := cmp.Diff(want, w.swept(r)); diff != "" {
			w.Errorf("the sweep (-want +got):\n%s", diff)
		}
		w.same("when it is swept", live)
		if v, err = r.Verify(w.ctx, dependency.VerifyRequest{}); err != nil || len(v.Violations) > 0 {
			w.Errorf("verify: %+v, %v", v.Violations, err)
		}
		for _, id := range gone {
			trail, err := r.Audit(w.ctx, id, "")
			if err != nil {
				w.Fatal(err)
			}
			if last := trail.Items[len(trail.Items)-1]; last.By != "sweep" || !strings.Contains(last.Reason, "orphan: the asset is deleted, by deletion ") {
				w.Errorf("the last line of %s: %+v", id, last)
			}
		}
		if n := w.unfinished(r, dids); n > 0 {
			w.Errorf("%d deletions are not completed", n)
		}
	})
}

// H-51: what only a document or another object names is below the asset's place, and that is enough: a sweep leaves it, the
// deletion takes it.
func TestWhatIsNamedIndirectlyBelongsToTheAsset(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		a, _, err := r.PutAsset(w.ctx, "ir-1", dependency.Put{Kind: "mesh"})
		if err != nil {
			w.Fatal(err)
		}
		prefix := "payload/ir-1/" + a.Generation + "/"
		for _, name := range []string{"main.mp4", "renditions/480p.mp4", "renditions/720p.mp4", "manifest.json", "manifest/only/here.ts"} {
			w.put("assets", prefix+name, `{"next": "manifest/only/here.ts"}`)
		}
		ref := asset.DocumentRef{Collection: "notes", Key: "ir-1/" + a.Generation, Generation: a.Generation, Fenced: true}
		if err := w.documents.Put(w.ctx, ref, map[string]any{"renditions": []any{map[string]any{"key": "renditions/480p.mp4"}}}); err != nil {
			w.Fatal(err)
		}
		pass(25 * time.Hour)
		before := w.stored()
		if found := w.swept(r); len(found) != 0 || len(before) != 6 {
			w.Errorf("found %q of %d things", found, len(before))
		}
		w.same("after the sweep", before)
		dids := w.delete(r, []string{"ir-1"})
		pass(time.Minute)
		w.allGone(r, dids)
	})
}

// H-52: an id is one asset's, whoever copies it: what lies at another owner's place is not what a deletion takes, and not what
// a sweep takes as long as it may be somebody's.
func TestAnotherOwnersThingsUnderTheSameIDStay(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		red := dependency.WithCaller(w.Context(), dependency.Caller{Subject: "rita", Owner: "red"})
		blue := dependency.WithCaller(w.Context(), dependency.Caller{Subject: "bert", Owner: "blue"})
		parent := []dependency.LinkTo{{Type: "PART_OF", To: "parent"}}
		for id, links := range map[string]*[]dependency.LinkTo{"parent": nil} {
			if _, _, err := r.PutAsset(red, id, dependency.Put{Kind: "twin", Links: links}); err != nil {
				w.Fatal(err)
			}
		}
		a, _, err := r.PutAsset(red, "100", dependency.Put{Kind: "twin", Links: &parent})
		if err != nil {
			w.Fatal(err)
		}
		b, _, err := r.PutAsset(blue, "b-100", dependency.Put{Kind: "twin"})
		if err != nil {
			w.Fatal(err)
		}
		for what, copied := range map[string]func() error{
			"the id":          func() error { _, _, err := r.PutAsset(blue, "100", dependency.Put{Kind: "twin"}); return err },
			"the parent's id": func() error { return r.Link(blue, "b-100", "PART_OF", "parent") },
		} {
			if err := copied(); err == nil {
				w.Errorf("%s of another owner was accepted", what)
			}
		}
		place := func(owner, id, generation string) string {
			return fmt.Sprintf("twins/%s/%s/%s/data", owner, id, generation)
		}
		w.put("twins", place("blue", "b-100", b.Generation), "blue's")
		w.put("twins", place("blue", "100", a.Generation), "a copy of red's, with its id and generation")
		theirs := w.stored()
		w.put("twins", place("red", "100", a.Generation), "red's")
		pass(25 * time.Hour)
		if found := w.swept(r); len(found) != 0 {
			w.Errorf("the sweep found %q while both are alive", found)
		}
		d, err := r.Delete(red, "parent", dependency.DeleteRequest{WithDependants: true})
		if err != nil {
			w.Fatal(err)
		}
		pass(time.Minute)
		if n := w.unfinished(r, []string{d.ID}); n != 0 {
			w.Error("the deletion of red's is not completed")
		}
		w.same("after the deletion of red's", theirs)
		if a, err := r.Asset(blue, "b-100"); err != nil || a.Status != dependency.Live {
			w.Errorf("blue's: %+v, %v", a, err)
		}
	})
}
