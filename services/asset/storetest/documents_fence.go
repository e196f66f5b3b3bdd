package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

func documentOlder(d documents) {
	body := map[string]any{"of": "newer"}
	d.put(d.ref("k", newer), body)
	d.sees([]bool{false}, d.ref("k", older))
	d.deletes(d.ref("k", older))
	if _, err := d.Documents.Get(d.ctx, d.ref("k", older)); !errors.Is(err, problem.NotFound) {
		d.t.Errorf("get by the older generation: %v, want not-found", err)
	}
	if err := d.Documents.Put(d.ctx, d.ref("k", older), map[string]any{"of": "older"}); !errors.Is(err, problem.Gone) {
		d.t.Errorf("put of the older generation: %v, want gone", err)
	}
	d.holds(d.ref("k", newer), body)
}

func documentNewer(d documents) {
	d.put(d.ref("k", older), map[string]any{"of": "older"})
	d.sees([]bool{false}, d.ref("k", newer))
	d.deletes(d.ref("k", newer))
	if _, err := d.Documents.Get(d.ctx, d.ref("k", newer)); !errors.Is(err, problem.NotFound) {
		d.t.Errorf("get by the newer generation: %v, want not-found", err)
	}
	d.holds(d.ref("k", older), map[string]any{"of": "older"})
	d.put(d.ref("k", newer), map[string]any{"of": "newer"})
	d.holds(d.ref("k", newer), map[string]any{"of": "newer"})
	d.sees([]bool{false}, d.ref("k", older))
}

func documentAdopted(d documents) {
	body := map[string]any{"from": "before us"}
	for _, generation := range []string{older, newer} {
		ref := d.ref("k-"+generation, generation)
		d.Adopt(d.t, ref, body)
		d.sees([]bool{true}, ref)
		d.holds(ref, body)
		d.deletes(ref)
		d.sees([]bool{false}, ref)
	}
	d.Adopt(d.t, d.ref("k", older), body)
	d.put(d.ref("k", newer), map[string]any{"of": "newer"})
	d.holds(d.ref("k", newer), map[string]any{"of": "newer"})
}

func documentExact(d documents) {
	exact := func(key, generation string) asset.DocumentRef {
		ref := d.ref(key, generation)
		ref.Exact = true
		return ref
	}
	d.Adopt(d.t, d.ref("adopted", older), map[string]any{"from": "before us"})
	d.sees([]bool{false}, exact("adopted", older))
	d.deletes(exact("adopted", older))
	d.sees([]bool{true}, d.ref("adopted", older))
	d.put(d.ref("ours", older), map[string]any{"of": "older"})
	d.sees([]bool{true, false}, exact("ours", older), exact("ours", newer))
	d.deletes(exact("ours", newer))
	d.sees([]bool{true}, exact("ours", older))
	d.deletes(exact("ours", older))
	d.sees([]bool{false}, d.ref("ours", older))
}

func documentFenced(d documents) {
	fenced := func(generation string) asset.DocumentRef {
		ref := d.ref("k/"+generation, generation)
		ref.Fenced = true
		return ref
	}
	d.put(fenced(older), map[string]any{"of": "older"})
	d.put(fenced(newer), map[string]any{"of": "newer"})
	d.holds(fenced(older), map[string]any{"of": "older"})
	d.sees([]bool{true, true}, fenced(older), fenced(newer))
	d.deletes(fenced(older))
	d.sees([]bool{false, true}, fenced(older), fenced(newer))
	d.holds(fenced(newer), map[string]any{"of": "newer"})
	d.deletes(fenced(older), fenced(newer))

	// The key decides, whatever the field says.
	d.put(d.ref("k/other", newer), map[string]any{"of": "newer"})
	other := d.ref("k/other", older)
	other.Fenced = true
	d.holds(other, map[string]any{"of": "newer"})
	d.put(other, map[string]any{"of": "older"})
	d.holds(other, map[string]any{"of": "older"})
	d.put(d.ref("k/other", newer), map[string]any{"of": "newer"})
	d.sees([]bool{true}, other)
	d.deletes(other)

	unmarked := d.ref("k/adopted", older)
	d.Adopt(d.t, unmarked, map[string]any{})
	unmarked.Fenced = true
	d.sees([]bool{true}, unmarked)
	d.deletes(unmarked)
}

// documentRace lets both generations write one key at once: whoever is first, the newer one stands in the end.
func documentRace(d documents) {
	for round := range 20 {
		key := fmt.Sprint("k", round)
		errs := together(2, func(i int) error {
			generation := []string{older, newer}[i]
			return d.Documents.Put(d.ctx, d.ref(key, generation), map[string]any{"of": generation})
		})
		if errs[0] != nil && !errors.Is(errs[0], problem.Gone) {
			d.t.Fatalf("put of the older generation: %v", errs[0])
		}
		ok(d.t, "put of the newer generation", errs[1])
		d.holds(d.ref(key, newer), map[string]any{"of": newer})
	}
}

func documentTwins(d documents) {
	for round := range 10 {
		ref := d.ref(fmt.Sprint("k", round), older)
		ok(d.t, "put", together(4, func(int) error {
			return d.Documents.Put(d.ctx, ref, map[string]any{"same": "body"})
		})...)
		d.holds(ref, map[string]any{"same": "body"})
		d.deletes(ref)
	}
}

func documentCancelled(d documents) {
	ref := d.ref("k", older)
	d.put(ref, map[string]any{"a": "b"})
	ctx, cancel := context.WithCancel(d.ctx)
	cancel()
	if errs := d.Documents.Delete(ctx, []asset.DocumentRef{ref, ref}); len(errs) != 2 || errs[0] == nil || errs[1] == nil {
		d.t.Errorf("delete: %v, want an error for each ref", errs)
	}
	if _, errs := d.Documents.Exists(ctx, []asset.DocumentRef{ref, ref}); len(errs) != 2 || errs[0] == nil || errs[1] == nil {
		d.t.Errorf("exists: %v, want an error for each ref", errs)
	}
	if err := d.Documents.Put(ctx, ref, map[string]any{}); err == nil {
		d.t.Error("put: no error")
	}
	d.holds(ref, map[string]any{"a": "b"})
}

func documentAstray(d documents) {
	astray := d.Astray(d.t)
	refs := []asset.DocumentRef{d.ref("k", older)}
	_, errs := astray.Exists(d.ctx, refs)
	blocked(d.t, "exists", errs[0], asset.ReasonDatabaseMissing)
	errs = astray.Delete(d.ctx, refs)
	blocked(d.t, "delete", errs[0], asset.ReasonDatabaseMissing)
}

// blocked fails the test when the error is not an obstacle for this reason.
func blocked(t *testing.T, what string, err error, reason asset.Reason) {
	t.Helper()
	if b := asset.AsBlocked(err); b == nil || b.Reason != reason {
		t.Errorf("%s: %v, want blocked by %s", what, err, reason)
	}
}

// together calls f n times at once and gives what each answered.
func together(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			errs[i] = f(i)
		})
	}
	start.Done()
	done.Wait()
	return errs
}
