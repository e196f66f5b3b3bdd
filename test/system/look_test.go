package system

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

// changeGraph writes into the graph past the services.
func changeGraph(t *testing.T, s *Stores, f func(ctx context.Context, tx dependency.Tx) error) {
	t.Helper()
	var g dependency.Graph
	var err error
	if file, ok := strings.CutPrefix(s.GraphURI, "sqlite://"); ok {
		g, err = sqlite.Open(file)
	} else {
		g, err = neo4j.Open(t.Context(), neo4j.Config{URI: s.GraphURI, User: s.GraphUser, Password: s.GraphPassword,
			Names: policy.Graph{Label: s.GraphLabel, ID: "id", Kind: "kind", Owner: "owner"}, Links: map[string]policy.Link{"DEPENDS_ON": {Type: "DEPENDS_ON"}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.WithoutCancel(t.Context()))
	if err := g.Update(t.Context(), func(tx dependency.Tx) error { return f(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
}

// found are the violations: guarantee, asset or owner, part.
func (s *System) found() []string {
	s.t.Helper()
	v, err := s.Verify(s.t.Context(), dependency.VerifyRequest{})
	if err != nil {
		s.t.Fatalf("verify: %v", err)
	}
	out := []string{}
	for _, x := range v.Violations {
		out = append(out, strings.TrimSpace(x.Guarantee+" "+x.Asset+x.Owner+" "+x.Part))
	}
	return out
}

func (s *System) wantFound(what string, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), s.found()); diff != "" {
		s.t.Errorf("violations %s (-want +got):\n%s", what, diff)
	}
}

func TestVerifyFindsWhatWasBrokenByHandAndNothingElse(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		sys := Start(t, s, app.All)
		sys.Fill(sys.Create("mesh", "lives"))
		gone := sys.Fill(sys.Create("mesh", "gone"))
		again := sys.Fill(sys.Create("mesh", "again"))
		sys.Create("item", "noted")
		sys.Create("slow", "slow")
		sys.Finish("gone")
		sys.Finish("again")
		sys.Finish("noted")
		sys.Fill(sys.Create("mesh", "again"))
		sys.wantFound("of a sound system")
		PutObject(t, s, "payload/gone/"+gone.Generation+"/back.bin", "it came back")
		PutObject(t, s, "thumbs/again.png", "another picture of the one that lives")
		sys.wantFound("after an object came back", "G3 gone payload")
		PutObject(t, s, "payload/again/"+again.Generation+"/back.bin", "of the older generation")
		PutObject(t, s, "thumbs/gone.png", "it came back, too")
		sys.wantFound("after more came back", "G3 again payload", "G3 gone payload", "G3 gone thumbnail")
		changeGraph(t, s, func(ctx context.Context, tx dependency.Tx) error {
			return tx.AddUsage(ctx, map[string]dependency.Usage{"default": {Bytes: 1}})
		})
		changeGraph(t, s, func(ctx context.Context, tx dependency.Tx) error {
			return tx.SaveLinks(ctx, []dependency.Link{{From: "lives", Type: "DEPENDS_ON", To: "gone"}})
		})
		sys.wantFound("after the graph was changed", "G4 lives", "G3 again payload", "G3 gone payload", "G3 gone thumbnail", "G8 default")
	})
}

// H-77: nothing is written while a plan is made, or while everything is verified; and the plan is what then goes.
func TestAPlanNamesEverythingThatThenGoes(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		sys := Start(t, s, app.All)
		sys.Fill(sys.Create("mesh", "bystander"))
		a := sys.Fill(sys.Create("mesh", "gone"))
		sys.Fill(sys.Create("mesh", "user", "gone"))
		before := s.Snapshot(t)
		p, err := sys.Plan(t.Context(), "gone", dependency.PlanRequest{WithDependants: true})
		if err != nil {
			t.Fatal(err)
		}
		sys.wantFound("of a sound system")
		if diff := cmp.Diff(before, s.Snapshot(t)); diff != "" {
			t.Errorf("the plan changed the stores:\n%s", diff)
		}
		named := map[string]bool{}
		for _, d := range p.Documents {
			named["document "+d.Collection+" "+d.Key] = true
		}
		for _, o := range p.Objects {
			named["object "+o.Key+" "+o.Version] = true
		}
		for place := range before.Without("bystander") {
			if !named[place] {
				t.Errorf("%s is not in the plan", place)
			}
			delete(named, place)
		}
		if len(named) > 0 || len(p.Assets) != 2 {
			t.Errorf("the plan has %d assets, and names too much: %v", len(p.Assets), named)
		}
		PutObject(t, s, "payload/gone/"+a.Generation+"/late.bin", "late")
		request := dependency.DeleteRequest{WithDependants: true, IfPlan: p.Hash}
		_, err = sys.Delete(t.Context(), "gone", request)
		Refused(t, err, problem.PlanChanged)
		if p, err = sys.Plan(t.Context(), "gone", dependency.PlanRequest{WithDependants: true}); err != nil {
			t.Fatal(err)
		}
		request.IfPlan = p.Hash
		d, err := sys.Delete(t.Context(), "gone", request)
		if err != nil {
			t.Fatal(err)
		}
		var objects, bytes int64
		for _, step := range sys.Await(d.ID).Steps {
			objects, bytes = objects+step.Objects, bytes+step.Bytes
		}
		if objects != int64(len(p.Objects)) || bytes != p.Bytes {
			t.Errorf("planned %d objects of %d bytes, erased %d of %d", len(p.Objects), p.Bytes, objects, bytes)
		}
		if diff := cmp.Diff(before.With("bystander"), s.Snapshot(t)); diff != "" {
			t.Errorf("what is left:\n%s", diff)
		}
		sys.wantFound("afterwards")
	})
}

func TestWithoutTheAssetServiceNothingIsPlanned(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		deps := Start(t, s, app.Dependency)
		deps.Create("mesh", "a")
		deps.Create("bare", "b")
		away := func(err error) {
			t.Helper()
			Refused(t, err, problem.Unavailable)
			if store := problem.As(err).Members["store"]; store != "asset service" {
				t.Errorf("the refusal names %v", store)
			}
		}
		_, err := deps.Plan(t.Context(), "a", dependency.PlanRequest{})
		away(err)
		_, err = deps.Delete(t.Context(), "a", dependency.DeleteRequest{IfPlan: "x"})
		away(err)
		assets := Start(t, s, app.Asset)
		if err := assets.PutDocument(t.Context(), "a", "description", map[string]any{"text": "x"}, ""); err != nil {
			t.Fatal(err)
		}
		p, err := deps.Plan(t.Context(), "a", dependency.PlanRequest{})
		if err != nil || len(p.Documents) != 1 {
			t.Fatalf("plan: %+v, %v", p, err)
		}
		d, err := deps.Delete(t.Context(), "a", dependency.DeleteRequest{IfPlan: p.Hash})
		if err != nil {
			t.Fatal(err)
		}
		deps.Await(d.ID)
		deps.wantFound("afterwards")
		assets.Stop()
		_, err = deps.Verify(t.Context(), dependency.VerifyRequest{})
		away(err)
	})
}
