package crash

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// farFuture is after everything that happens in a run.
var farFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// check holds the end of a run to every guarantee.
func (w *world) check() {
	w.lookAtNodes()
	w.checkStores()
	g := w.read()
	w.checkDeletions(g)
	w.checkVerified()
	w.checkTrail(g)
	w.checkFeed(g)
	if w.repeats != nil {
		w.repeats(w)
	} else {
		w.checkRepeats()
	}
}

// checkStores is G2 and G3 at the end: what nobody had deleted, and nothing else.
func (w *world) checkStores() {
	want := maps.Clone(w.bystanders)
	for _, h := range w.held() {
		if !h.accepted {
			maps.Copy(want, h.entries)
		}
	}
	if diff := cmp.Diff(want, w.stored()); diff != "" {
		w.violate("G2/G3", "the stores hold (-want +got):\n%s", diff)
	}
	if dead := w.messages(w.names.Dead()); len(dead) > 0 {
		w.violate("G1", "%d dead letters", len(dead))
	}
}

// checkDeletions is G1, and G5 as far as numbers tell: each accepted deletion is done, with evidence that is true, and there
// are no others.
func (w *world) checkDeletions(g picture) {
	accepted := slices.Compact(slices.Sorted(slices.Values(w.deletions)))
	var found []string
	for _, d := range g.Deletions {
		found = append(found, d.ID)
		if w.cancelled[d.ID] {
			if d.Status != dependency.Cancelled || d.Done != 0 || !d.SentAt.IsZero() {
				w.violate("G1", "cancelled deletion %+v", d)
			}
			continue
		}
		if d.Status != dependency.Deleted || d.Done != d.Total || d.CompletedAt.IsZero() || d.SentAt.IsZero() || d.Blocked != nil {
			w.violate("G1", "deletion %+v", d)
		}
	}
	slices.Sort(found)
	if !slices.Equal(accepted, found) {
		w.violate("G5", "deletions %v, accepted were %v", found, accepted)
	}
	for _, e := range g.Erasures {
		if e.Done == w.cancelled[e.Deletion] || !e.Done && !e.CheckAt.IsZero() {
			w.violate("G1", "erasure %+v", e)
		}
		if e.Done {
			w.checkEvidence(e)
		}
	}
	if len(g.Commands) > 0 {
		w.violate("G1", "flags are left: %+v", g.Commands)
	}
}

func (w *world) checkEvidence(e dependency.Erasure) {
	for _, h := range w.held() {
		if h.asset != e.Asset || h.generation != e.Generation {
			continue
		}
		for _, s := range e.Steps {
			want, got := h.truth[s.Part], dependency.Step{Documents: s.Documents, Objects: s.Objects, Bytes: s.Bytes}
			if diff := cmp.Diff(want, got); diff != "" || s.Status != dependency.StepErased || s.ErasedAt == nil {
				w.violate("evidence", "%s %s: %+v (-truth +evidence):\n%s", e.Asset, s.Part, s, diff)
			}
		}
	}
}

// checkVerified holds the graph and the stores to what the product verifies itself, `tombstone verify`: G4 and G8 above all, and
// of the others what can be seen without knowing what has happened.
func (w *world) checkVerified() {
	s, err := dependency.New(dependency.Config{Graph: w.graph, Policy: w.policy,
		Stores: asset.NewInspector(asset.Config{Policy: w.policy, Documents: w.documents(), Blobs: w.blobs()})})
	if err != nil {
		panic(err)
	}
	v, err := s.Verify(operator(context.Background()), dependency.VerifyRequest{})
	if err != nil {
		panic(err)
	}
	for _, found := range v.Violations {
		w.violate(found.Guarantee, "verify: %+v", found)
	}
}

// checkRepeats is G5 and G6: repeats give the same deletion, refusals are refused, and nothing of it changes anything.
func (w *world) checkRepeats() {
	before := w.dump()
	s, err := dependency.New(dependency.Config{Graph: w.graph, Policy: w.policy})
	if err != nil {
		panic(err)
	}
	ctx := operator(context.Background())
	last := w.deletions[len(w.deletions)-1]
	for _, r := range []struct{ id, key, want string }{{"a", "first", w.deletions[0]}, {w.rootOf(last), "", last}} {
		d, err := s.Delete(ctx, r.id, dependency.DeleteRequest{Reason: "explored", IdempotencyKey: r.key})
		if err != nil || d.ID != r.want {
			w.violate("G5", "repeat for %s with key %q gave %s, %v; want %s", r.id, r.key, d.ID, err, r.want)
		}
	}
	for name, err := range w.refusals(ctx, s) {
		if p := problem.As(err); p == nil || p.Name != name {
			w.violate("G6", "got %v, want the refusal %s", err, name)
		}
	}
	w.same("G5/G6", "repeats and refusals changed the graph", before, w.dump())
}

func (w *world) refusals(ctx context.Context, s *dependency.Service) map[problem.Name]error {
	_, unknown := s.Delete(ctx, "nobody", dependency.DeleteRequest{})
	_, stale := s.Delete(ctx, "a", dependency.DeleteRequest{IfMatch: "01900000-0000-7000-8000-000000000001"})
	_, reused := s.Delete(ctx, "a", dependency.DeleteRequest{Reason: "another", IdempotencyKey: "first"})
	_, _, link := s.PutAsset(ctx, "c", dependency.Put{Kind: "mesh", Owner: owner, Links: &[]dependency.LinkTo{{Type: "DEPENDS_ON", To: "a"}}})
	return map[problem.Name]error{problem.NotFound: unknown, problem.GenerationMismatch: stale, problem.IdempotencyKeyReused: reused, problem.LinkTargetDeleting: link}
}

func (w *world) rootOf(deletion string) (root string) {
	w.view(func(ctx context.Context, tx dependency.Tx) error {
		records, err := tx.Deletions(ctx, []string{deletion})
		root = records[deletion].Root
		return err
	})
	return root
}
