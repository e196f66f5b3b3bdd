package dependency_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// shelves are stores that hold what a test puts there, by asset and generation of the part; it gives pages of two things and
// looks at two targets at a time. before runs ahead of each look, and its error is the look's.
type shelves struct {
	dependency.Stores
	mu     sync.Mutex
	things map[string][]events.Thing
	unseen map[string]events.Unseen // by asset
	before func() error
	asked  map[string]events.Target // the last one of each asset and generation
}

func (s *shelves) put(asset, generation string, things ...events.Thing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.things == nil {
		s.things = map[string][]events.Thing{}
	}
	s.things[asset+" "+generation] = append(s.things[asset+" "+generation], things...)
}

func (s *shelves) Look(_ context.Context, targets []events.Target) (sights []events.Sight, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil {
		if err := s.before(); err != nil {
			return nil, err
		}
	}
	if s.asked == nil {
		s.asked = map[string]events.Target{}
	}
	for _, t := range targets[:min(2, len(targets))] {
		s.asked[t.Asset+" "+t.Generation] = t
		var found []events.Thing
		for _, thing := range s.things[t.Asset+" "+t.Generation] {
			if len(t.Parts) == 0 || t.Parts[thing.Part] == t.Generation {
				found = append(found, thing)
			}
		}
		for part, generation := range t.Parts {
			if generation != t.Generation {
				for _, thing := range s.things[t.Asset+" "+generation] {
					if thing.Part == part {
						found = append(found, thing)
					}
				}
			}
		}
		at := 0
		_, _ = fmt.Sscan(t.After, &at)
		sight := events.Sight{Found: found[at:min(at+2, len(found))]}
		if at+2 < len(found) {
			sight.Next = fmt.Sprint(at + 2)
		}
		if u, ok := s.unseen[t.Asset]; ok {
			sight.Unseen = []events.Unseen{u}
		}
		sights = append(sights, sight)
		if t.After != "" {
			break
		}
	}
	return sights, nil
}

func version(part, key, id string, size int64) events.Thing {
	return events.Thing{Part: part, Form: events.FormVersion, Bucket: "assets", Key: key, Version: id, Bytes: size}
}

// planBench is a bench with stores. Assets of kind item have parts, bare ones have none.
func planBench(t *testing.T) (*bench, *shelves) {
	t.Helper()
	s := &shelves{}
	b := benchWith(t, newBench(t).graph, closurePolicy+`
  item:
    parts:
      note: {document: {collection: notes, key: "{id}/{generation}"}}
      payload: {blobs: {bucket: assets, prefix: "payload/{id}/{generation}/"}}
  file:
    parts:
      content: {blobs: {bucket: files, key: "{attributes.key|path}"}}
`, func(c *dependency.Config) { c.Stores = s })
	return b, s
}

func (b *bench) plan(id string, withDependants bool) dependency.Plan {
	b.t.Helper()
	p, err := b.Plan(b.ctx, id, dependency.PlanRequest{WithDependants: withDependants})
	if err != nil {
		b.t.Fatalf("plan %q: %v", id, err)
	}
	return p
}

func TestPlanTellsAllThatWouldGo(t *testing.T) {
	b, s := planBench(t)
	root := b.create("item", "root")
	child := b.create("item", "child", to("PART_OF", "root"))
	b.create("bare", "mentions", to("REFERENCES", "child"))
	b.create("bare", "held", []dependency.LinkTo{}...)
	if err := b.Link(b.ctx, "root", "USES", "held"); err != nil {
		t.Fatal(err)
	}
	if err := b.Hold(b.ctx, "held", "law"); err != nil {
		t.Fatal(err)
	}
	s.put("root", root.Generation, events.Thing{Part: "note", Form: events.FormDocument, Collection: "notes", Key: "root/1"},
		version("payload", "a", "v1", 3), version("payload", "a", "v2", 4), events.Thing{Part: "payload", Form: events.FormMarker, Bucket: "assets", Key: "a", Version: "v3"},
		events.Thing{Part: "payload", Form: events.FormUpload, Bucket: "assets", Key: "b", Version: "u1"})
	s.put("child", child.Generation, version("payload", "c", "v1", 5))
	before := b.dump()
	p := b.plan("root", false)
	want := dependency.Plan{Hash: p.Hash, Bytes: 12, Kept: []string{"held"},
		Assets:    []dependency.PlannedAsset{{ID: "root", Generation: root.Generation, Why: "requested"}, {ID: "child", Generation: child.Generation, Why: "PART_OF root"}},
		Links:     []dependency.PlannedLink{{From: "mentions", Type: "REFERENCES", To: "child"}},
		Documents: []dependency.PlannedDocument{{Asset: "root", Part: "note", Collection: "notes", Key: "root/1"}},
		Objects: []dependency.PlannedObject{
			{Asset: "root", Part: "payload", Bucket: "assets", Key: "a", Version: "v1", Bytes: 3},
			{Asset: "root", Part: "payload", Bucket: "assets", Key: "a", Version: "v2", Bytes: 4},
			{Asset: "root", Part: "payload", Bucket: "assets", Key: "a", Version: "v3", Marker: true},
			{Asset: "root", Part: "payload", Bucket: "assets", Key: "b", Version: "u1", Upload: true},
			{Asset: "child", Part: "payload", Bucket: "assets", Key: "c", Version: "v1", Bytes: 5},
		}, Blockers: []dependency.Blocker{}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if again := b.plan("root", false); again.Hash != p.Hash {
		t.Errorf("the same plan again has hash %s, before %s", again.Hash, p.Hash)
	}
	if after := b.dump(); after != before {
		t.Errorf("the plan changed the graph:\n%s", cmp.Diff(before, after))
	}
	d, err := b.Delete(b.ctx, "root", dependency.DeleteRequest{IfPlan: p.Hash})
	if err != nil || d.Assets.Total != 2 || b.asset("held").Status != dependency.Live {
		t.Errorf("as planned: %s, %v", pretty(d), err)
	}
}

func TestPlanTellsWhatStandsInTheWay(t *testing.T) {
	b, _ := planBench(t)
	b.create("bare", "root")
	b.create("bare", "child", to("PART_OF", "root"))
	b.create("bare", "needs-it", to("DEPENDS_ON", "child"))
	if err := b.Hold(b.ctx, "child", "law"); err != nil {
		t.Fatal(err)
	}
	p := b.plan("root", false)
	want := []dependency.Blocker{{Type: dependency.BlockedByHold, Asset: "child"}, {Type: "DEPENDS_ON", Asset: "needs-it"}}
	if diff := cmp.Diff(want, p.Blockers); diff != "" || p.BlockersTotal != 2 {
		t.Errorf("blockers (-want +got):\n%s%d in total", diff, p.BlockersTotal)
	}
	if p := b.plan("root", true); len(p.Blockers) != 1 || len(p.Assets) != 3 || p.Assets[2].Why != "DEPENDS_ON child" {
		t.Errorf("with dependants: %s", pretty(p))
	}
}

func TestPlanIsRefusedWhereThereIsNothingToPlan(t *testing.T) {
	b, s := planBench(t)
	plan := func(ctx context.Context, id string) error {
		_, err := b.Plan(ctx, id, dependency.PlanRequest{})
		return err
	}
	b.create("item", "a")
	refused(t, plan(b.ctx, "nobody"), problem.NotFound)
	refused(t, plan(b.as("other"), "a"), problem.NotFound)
	refused(t, plan(t.Context(), "a"), problem.Unauthenticated)
	s.before = func() error { return problem.New(problem.Unavailable, "away") }
	refused(t, plan(b.ctx, "a"), problem.Unavailable)
	s.before = nil
	s.unseen = map[string]events.Unseen{"a": {Part: "payload", Reason: "bucket-missing"}}
	if p := refused(t, plan(b.ctx, "a"), problem.Unavailable); !strings.Contains(p.Detail, "bucket-missing") {
		t.Errorf("detail %q", p.Detail)
	}
	s.unseen = nil
	d := b.del("a")
	if p := refused(t, plan(b.ctx, "a"), problem.DeletionInProgress); p.Members["deletion"] != d.ID {
		t.Errorf("members %v", p.Members)
	}
	b.create("bare", "many")
	for i := range 50 {
		b.create("bare", fmt.Sprint("many-", i), to("PART_OF", "many"))
	}
	if p := refused(t, plan(b.ctx, "many"), problem.TooManyAssets); p.Members["assets_total"] != 51 {
		t.Errorf("members %v", p.Members)
	}
	withoutStores := benchOn(t, newBench(t).graph, policyText)
	withoutStores.create("item", "a")
	_, err := withoutStores.Plan(withoutStores.ctx, "a", dependency.PlanRequest{})
	refused(t, err, problem.Unavailable)
	p, err := withoutStores.Plan(withoutStores.ctx, "a", dependency.PlanRequest{GraphOnly: true})
	if err != nil || len(p.Assets) != 1 || p.Assets[0].ID != "a" || p.Hash != "" {
		t.Errorf("of the graph alone: %s, %v", pretty(p), err)
	}
}

func TestDeleteHoldsOnlyForTheWorldThatThePlanSaw(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *bench, s *shelves, child dependency.Asset)
		want   string
	}{
		"nothing":              {func(*bench, *shelves, dependency.Asset) {}, ""},
		"a new child":          {func(b *bench, _ *shelves, _ dependency.Asset) { b.create("bare", "late", to("PART_OF", "root")) }, `3 assets, planned were 2, came: "late"`},
		"a new link to detach": {func(b *bench, _ *shelves, _ dependency.Asset) { b.create("bare", "late", to("REFERENCES", "child")) }, `1 links, planned were 0, came: "late REFERENCES child"`},
		"a new version": {func(_ *bench, s *shelves, child dependency.Asset) {
			s.put("child", child.Generation, version("payload", "a", "v2", 5))
		}, `8 bytes, planned were 3; 2 objects, planned were 1, came: "assets/a"`},
		"another version": {func(_ *bench, s *shelves, child dependency.Asset) {
			s.things["child "+child.Generation] = []events.Thing{version("payload", "a", "v2", 3)}
		}, `1 other objects, came: "assets/a", went: "assets/a"`},
		"something unrelated": {func(b *bench, _ *shelves, _ dependency.Asset) { b.create("bare", "late") }, ""},
		"a new document": {func(_ *bench, s *shelves, child dependency.Asset) {
			s.put("child", child.Generation, events.Thing{Part: "note", Form: events.FormDocument, Collection: "notes", Key: "child"})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, s := planBench(t)
			b.create("bare", "root")
			child := b.create("item", "child", to("PART_OF", "root"))
			s.put("child", child.Generation, version("payload", "a", "v1", 3))
			hash := b.plan("root", false).Hash
			c.change(b, s, child)
			before := b.dump()
			d, err := b.Delete(b.ctx, "root", dependency.DeleteRequest{IfPlan: hash, IdempotencyKey: "k"})
			if c.want == "" {
				if err != nil || d.Assets.Total != 2 {
					t.Errorf("want it accepted, got %s, %v", pretty(d), err)
				}
				return
			}
			p := refused(t, err, problem.PlanChanged)
			if !strings.Contains(p.Detail, c.want) || p.Members["hash"] != b.plan("root", false).Hash {
				t.Errorf("want %q, got %s %v", c.want, p.Detail, p.Members)
			}
			if after := b.dump(); after != before {
				t.Errorf("the refusal changed the graph:\n%s", cmp.Diff(before, after))
			}
		})
	}
}

// Who was not given the plan by this process is told how much differs, and not what.
func TestChangesOfAPlanAreNamedToWhoWasGivenIt(t *testing.T) {
	b, s := planBench(t)
	b.create("bare", "root")
	for i := range 40 {
		b.create("bare", fmt.Sprintf("gone-%03d", i), to("PART_OF", "root"))
	}
	plan := b.plan("root", false)
	for i := range 40 {
		if err := b.Unlink(b.ctx, fmt.Sprintf("gone-%03d", i), "PART_OF", "root"); err != nil {
			t.Fatal(err)
		}
	}
	changed := func(service *dependency.Service, ctx context.Context) dependency.PlannedAndNow {
		t.Helper()
		_, err := service.Delete(ctx, "root", dependency.DeleteRequest{IfPlan: plan.Hash})
		return refused(t, err, problem.PlanChanged).Members["difference"].(dependency.PlanDifference)["assets"]
	}
	got := changed(b.Service, b.ctx)
	if len(got.Went) != 40 || got.Went[0] != (dependency.PlannedThing{Asset: plan.Assets[1].ID, Generation: plan.Assets[1].Generation}) || len(got.Came) != 0 {
		t.Errorf("who was given it: %s", pretty(got))
	}
	other := dependency.WithCaller(t.Context(), dependency.Caller{Subject: "otto", Owner: "acme", Operator: true})
	restarted := benchWith(t, b.graph, closurePolicy, func(c *dependency.Config) { c.Stores = s })
	for who, got := range map[string]dependency.PlannedAndNow{"another caller": changed(b.Service, other), "a restarted process": changed(restarted.Service, b.ctx)} {
		if got.Planned == nil || *got.Planned != 41 || got.Now != 1 || len(got.Went)+len(got.Came) != 0 {
			t.Errorf("%s: %s", who, pretty(got))
		}
	}
}

func TestIfPlanComesLastAmongTheChecks(t *testing.T) {
	b, s := planBench(t)
	b.create("bare", "root")
	b.create("item", "child", to("PART_OF", "root"))
	ask := func(r dependency.DeleteRequest) error {
		r.IfPlan = "wrong"
		_, err := b.Delete(b.ctx, "root", r)
		return err
	}
	refused(t, ask(dependency.DeleteRequest{}), problem.PlanChanged)
	s.before = func() error { return problem.New(problem.Unavailable, "away") }
	refused(t, ask(dependency.DeleteRequest{}), problem.Unavailable)
	refused(t, ask(dependency.DeleteRequest{IfMatch: "other"}), problem.GenerationMismatch)
	b.create("bare", "blocker", to("DEPENDS_ON", "child"))
	refused(t, ask(dependency.DeleteRequest{}), problem.HasDependants)
	if err := b.Hold(b.ctx, "child", "law"); err != nil {
		t.Fatal(err)
	}
	refused(t, ask(dependency.DeleteRequest{}), problem.OnHold)
	if err := b.Release(b.ctx, "child"); err != nil {
		t.Fatal(err)
	}
	d, err := b.Delete(b.ctx, "root", dependency.DeleteRequest{WithDependants: true})
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Delete(b.ctx, "root", dependency.DeleteRequest{IfPlan: "wrong"})
	if err != nil || again.ID != d.ID {
		t.Errorf("while it runs: %s, %v", pretty(again), err)
	}
}

// What changes between the look into the stores and the transaction is noticed in the transaction.
func TestTheGraphIsComparedInTheTransaction(t *testing.T) {
	b, s := planBench(t)
	b.create("item", "root")
	hash := b.plan("root", false).Hash
	s.before = func() error {
		s.before = nil
		b.create("bare", "late", to("PART_OF", "root"))
		return nil
	}
	_, err := b.Delete(b.ctx, "root", dependency.DeleteRequest{IfPlan: hash})
	refused(t, err, problem.PlanChanged)
	s.before = func() error {
		s.before = nil
		b.del("late")
		b.del("root")
		return nil
	}
	d, err := b.Delete(b.ctx, "root", dependency.DeleteRequest{IfPlan: b.plan("root", false).Hash})
	if err != nil || d.Root != "root" {
		t.Errorf("deleted meanwhile by another: %s, %v", pretty(d), err)
	}
}

// H-77: a plan names exactly what a deletion then takes, for any graph, and changes nothing.
func TestPlanIsWhatTheDeletionDoes(t *testing.T) {
	b, s := planBench(t)
	run := 0
	rapid.Check(t, func(r *rapid.T) {
		run++
		name := func(i int) string { return fmt.Sprintf("%d-%d", run, i) }
		n := rapid.IntRange(1, 8).Draw(r, "assets")
		for i := range n {
			a := b.create(rapid.SampledFrom([]string{"item", "bare", "slow"}).Draw(r, "kind"), name(i))
			for v := range rapid.IntRange(0, 5).Draw(r, "versions") {
				s.put(a.ID, a.Generation, version("payload", a.ID, fmt.Sprint("v", v), int64(v)))
			}
		}
		types := []string{"PART_OF", "PART_OF", "DEPENDS_ON", "REFERENCES", "USES"}
		for range rapid.IntRange(0, 2*n).Draw(r, "links") {
			from, end := rapid.IntRange(0, n-1).Draw(r, "from"), rapid.IntRange(0, n-1).Draw(r, "to")
			if from != end {
				if err := b.Link(b.ctx, name(from), rapid.SampledFrom(types).Draw(r, "type"), name(end)); err != nil {
					r.Fatal(err)
				}
			}
		}
		for range rapid.IntRange(0, 1).Draw(r, "holds") {
			if err := b.Hold(b.ctx, name(rapid.IntRange(0, n-1).Draw(r, "held")), "law"); err != nil {
				r.Fatal(err)
			}
		}
		withDependants := rapid.Bool().Draw(r, "with dependants")
		before := b.dump()
		p := b.plan(name(0), withDependants)
		if after := b.dump(); after != before {
			r.Fatalf("the plan changed the graph:\n%s", cmp.Diff(before, after))
		}
		d, err := b.Delete(b.ctx, name(0), dependency.DeleteRequest{WithDependants: withDependants, IfPlan: p.Hash})
		if err := b.comparePlan(p, d, err); err != nil {
			r.Fatal(err)
		}
	})
}

// comparePlan holds the answer of a deletion to its plan.
func (b *bench) comparePlan(p dependency.Plan, d dependency.Deletion, err error) error {
	if len(p.Blockers) > 0 {
		switch refusal := problem.As(err); {
		case refusal == nil:
			return fmt.Errorf("blockers %v, but the deletion gave %v, %w", p.Blockers, d.ID, err)
		case refusal.Name == problem.OnHold:
			if p.Blockers[0].Type != dependency.BlockedByHold {
				return fmt.Errorf("blockers %v: %w", p.Blockers, err)
			}
		case refusal.Name == problem.HasDependants:
			var ids []string
			for _, blocker := range p.Blockers {
				ids = append(ids, blocker.Asset)
			}
			if !slices.Equal(ids, refusal.Members["dependants"].([]string)) || refusal.Members["dependants_total"] != p.BlockersTotal {
				return fmt.Errorf("blockers %v: %v", p.Blockers, refusal.Members)
			}
		default:
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	planned := map[string]string{}
	for _, a := range p.Assets {
		planned[a.ID] = a.Why
	}
	if taken := b.taken(d); !maps.Equal(planned, taken) {
		return fmt.Errorf("planned %v, taken %v", planned, taken)
	}
	var hidden []dependency.PlannedLink
	err = b.graph.View(b.t.Context(), func(tx dependency.Tx) error {
		hidden = nil
		links, err := tx.HiddenLinks(b.t.Context(), slices.Collect(maps.Keys(planned)), d.ID)
		for _, l := range links {
			hidden = append(hidden, dependency.PlannedLink{From: l.From, Type: l.Type, To: l.To})
		}
		return err
	})
	less := func(x, y dependency.PlannedLink) bool { return fmt.Sprint(x) < fmt.Sprint(y) }
	if diff := cmp.Diff(p.Links, hidden, cmpopts.EquateEmpty(), cmpopts.SortSlices(less)); diff != "" || err != nil {
		return errors.Join(err, fmt.Errorf("detached links (-planned +hidden):\n%s", diff))
	}
	return nil
}

// dump is all assets with their links, and all deletions, as text.
func (b *bench) dump() string {
	b.t.Helper()
	assets, err := b.Assets(b.ctx, dependency.AssetQuery{Limit: 1000})
	deletions, err2 := b.Deletions(b.ctx, dependency.DeletionQuery{Limit: 1000})
	if err := errors.Join(err, err2); err != nil {
		b.t.Fatal(err)
	}
	return pretty([]any{assets.Items, deletions.Items, len(b.flags())})
}
