package system

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/containers"
)

func TestMain(m *testing.M) { containers.Main(m) }

func TestAnAssetInAllStoresIsDeletedAndNothingElse(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		sys := Start(t, s, app.All)
		sys.Fill(sys.Create("mesh", "bystander"))
		a := sys.Fill(sys.Create("mesh", "gone"))
		sys.Create("bare", "user", "gone")
		before := s.Snapshot(t)
		_, err := sys.Delete(t.Context(), "gone", dependency.DeleteRequest{})
		Refused(t, err, problem.HasDependants)
		if diff := cmp.Diff(before, s.Snapshot(t)); diff != "" {
			t.Errorf("the refusal changed the stores:\n%s", diff)
		}
		sys.Finish("user")
		d := sys.Finish("gone")
		want := map[string][3]int64{"description": {1, 0, 0}, "payload": {0, 3, 122}, "thumbnail": {0, 1, 47}}
		for _, step := range d.Steps {
			if got := [3]int64{step.Documents, step.Objects, step.Bytes}; step.Status != dependency.StepErased || got != want[step.Part] {
				t.Errorf("step %s is %s with documents, objects, bytes %v; want erased with %v", step.Part, step.Status, got, want[step.Part])
			}
		}
		if diff := cmp.Diff(before.Without("gone"), s.Snapshot(t)); diff != "" {
			t.Errorf("what is left is not what was there without the asset:\n%s", diff)
		}
		again, err := sys.Delete(t.Context(), "gone", dependency.DeleteRequest{IfMatch: a.Generation})
		if err != nil || again.ID != d.ID {
			t.Errorf("repeat: deletion %s, %v; want %s", again.ID, err, d.ID)
		}
		_, err = sys.GetDocument(t.Context(), "gone", "description")
		Refused(t, err, problem.Gone)
	})
}

// H-63.
func TestTheSameIDLivesAgainAndKeepsItsOwn(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		sys := Start(t, s, app.All)
		var last dependency.Asset
		for range 3 {
			a := sys.Fill(sys.Create("mesh", "phoenix"))
			if a.Generation <= last.Generation {
				t.Fatalf("generation %s after %s", a.Generation, last.Generation)
			}
			if n := len(s.Snapshot(t)); n != 5 {
				t.Fatalf("%d things in the stores before the deletion, want 5", n)
			}
			sys.Finish("phoenix")
			if left := s.Snapshot(t); len(left) > 0 {
				t.Fatalf("left over: %v", left)
			}
			last = a
		}
	})
}

func TestManyDeletionsAtOnceLeaveNothingAndTouchNothing(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		sys := Start(t, s, app.All)
		const n = 60
		for i := range n {
			sys.Fill(sys.Create("mesh", fmt.Sprintf("gone-%d", i)))
			if i%10 == 0 {
				sys.Fill(sys.Create("mesh", fmt.Sprintf("stays-%d", i)))
			}
		}
		before := s.Snapshot(t)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				if _, err := sys.Delete(t.Context(), fmt.Sprintf("gone-%d", i), dependency.DeleteRequest{}); err != nil {
					t.Errorf("delete: %v", err)
				}
			})
		}
		wg.Wait()
		for i := range n {
			a, err := sys.Asset(t.Context(), fmt.Sprintf("gone-%d", i))
			if err != nil {
				t.Fatal(err)
			}
			sys.Await(a.Deletion)
		}
		if diff := cmp.Diff(before.With("stays-"), s.Snapshot(t)); diff != "" {
			t.Errorf("left in the stores:\n%s", diff)
		}
		p, err := sys.Pending(t.Context(), "")
		if err != nil || len(p.Items) != 0 {
			t.Errorf("flags afterwards: %+v, %v", p.Items, err)
		}
	})
}

func TestTwoProcessesShareTheWork(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		deps := Start(t, s, app.Dependency)
		assets := Start(t, s, app.Asset)
		a := deps.Create("mesh", "split")
		if err := assets.PutDocument(t.Context(), "split", "description", map[string]any{"text": "x"}, ""); err != nil {
			t.Fatal(err)
		}
		PutObject(t, s, "payload/split/"+a.Generation+"/one.bin", "one")
		deps.Finish("split")
		if left := s.Snapshot(t); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
		err := assets.PutDocument(t.Context(), "split", "description", map[string]any{"text": "late"}, "")
		Refused(t, err, problem.Gone)
	})
}

func TestWorkGoesOnAfterARestart(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		deps := Start(t, s, app.Dependency) // nobody erases yet
		a := deps.Create("mesh", "waits")
		d, err := deps.Delete(t.Context(), "waits", dependency.DeleteRequest{})
		if err != nil {
			t.Fatal(err)
		}
		deps.Stop()
		PutObject(t, s, "payload/waits/"+a.Generation+"/one.bin", "one")
		sys := Start(t, s, app.All)
		sys.Await(d.ID)
		if left := s.Snapshot(t); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	})
}

func TestStoreThatIsAwayAtTheStartIsNamedAndTheProcessStays(t *testing.T) {
	s := Embedded(t)
	away := *s
	away.DocumentsURI = "mongodb://" + freePort(t) + "/nobody"
	sys := launch(t, &away, app.All, policyText)
	Eventually(t, "/readyz names the documents", func() error {
		if err := sys.Health(t.Context()); err != nil {
			return err
		}
		r, err := sys.Ready(t.Context())
		if err != nil || r.Ready || r.Stores["documents"] == "ok" || r.Stores["blobs"] != "ok" {
			return fmt.Errorf("ready %+v, %v", r, err)
		}
		return nil
	})
	if _, _, err := sys.PutAsset(t.Context(), "accepted", dependency.Put{Kind: "bare"}); err != nil {
		t.Errorf("the graph is enough to create an asset: %v", err)
	}
	if _, err := sys.Delete(t.Context(), "accepted", dependency.DeleteRequest{}); err != nil {
		t.Errorf("the graph is enough to accept a deletion: %v", err)
	}
}
