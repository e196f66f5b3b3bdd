package dependency_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const closurePolicy = `
links:
  DEPENDS_ON: {on_target_delete: restrict}
  PART_OF: {on_target_delete: cascade}
  REFERENCES: {on_target_delete: detach}
  USES: {on_target_delete: restrict, on_last_source: delete}
limits: {max_assets_per_deletion: 50}
kinds:
  bare: {}
  slow: {grace: 1h}
`

func newClosureBench(t *testing.T) *bench { return benchOn(t, newBench(t).graph, closurePolicy) }

func to(kind, id string) dependency.LinkTo { return dependency.LinkTo{Type: kind, To: id} }

// taken are the assets of a deletion with the reasons why.
func (b *bench) taken(d dependency.Deletion) map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := b.graph.View(b.t.Context(), func(tx dependency.Tx) error {
		list, err := tx.ListErasures(b.t.Context(), d.ID, -1, 1000)
		for _, e := range list {
			out[e.Asset] = e.Why
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// H-15.
func TestCascadeTakesTheTreeAndTwoParentsAndCyclesOnce(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "project")
	b.create("bare", "layer", to("PART_OF", "project"))
	b.create("bare", "check", to("PART_OF", "layer"), to("PART_OF", "project"))
	if err := b.Link(b.ctx, "project", "PART_OF", "check"); err != nil { // a cycle
		t.Fatal(err)
	}
	b.create("bare", "bystander", to("REFERENCES", "project"))
	d := b.del("project")
	got := b.taken(d)
	if len(got) != 3 || got["project"] != "requested" || got["layer"] != "PART_OF project" || d.Assets.Total != 3 {
		t.Errorf("taken: %v", got)
	}
	if l := b.asset("bystander"); l.Status != dependency.Live || len(l.Links) != 0 {
		t.Errorf("the detached link still counts: %s", pretty(l))
	}
	for _, id := range []string{"check", "layer"} {
		b.erased(d, id, b.asset(id).Generation)
		if b.deletion(d.ID).Status != dependency.Deleting {
			t.Error("completed before its last asset")
		}
	}
	b.erased(d, "project", b.asset("project").Generation)
	if got := b.deletion(d.ID); got.Status != dependency.Deleted || got.Assets.Deleted != 3 {
		t.Errorf("deletion: %s", pretty(got))
	}
	if got, want := b.trail("project"), []string{events.TypeDeletionRequested, events.TypeAssetErased, events.TypeDeletionCompleted}; !slices.Equal(got, want) {
		t.Errorf("trail of the root: %v", got)
	}
}

func TestOutsideBlockerOfAnyAssetRefusesTheWhole(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "project")
	b.create("bare", "layer", to("PART_OF", "project"))
	b.create("bare", "inside", to("PART_OF", "layer"), to("DEPENDS_ON", "project"))
	b.create("bare", "outside", to("DEPENDS_ON", "layer"))
	_, err := b.Delete(b.ctx, "project", dependency.DeleteRequest{})
	p := refused(t, err, problem.HasDependants)
	if got := p.Members["dependants"].([]string); !slices.Equal(got, []string{"outside"}) || p.Members["dependants_total"] != 1 {
		t.Errorf("blockers: %v", p.Members)
	}
	for _, id := range []string{"project", "layer", "inside"} {
		if b.asset(id).Status != dependency.Live {
			t.Errorf("%s is %s after a refusal", id, b.asset(id).Status)
		}
	}
	d, err := b.Delete(b.ctx, "project", dependency.DeleteRequest{WithDependants: true})
	if got := b.taken(d); err != nil || len(got) != 4 || got["outside"] != "DEPENDS_ON layer" {
		t.Errorf("with dependants: %v, %v", got, err)
	}
}

// H-67: of assets that need each other in a ring none goes alone; with what depends on it the whole ring goes, once, though two
// of it are asked for at once.
func TestARingIsRefusedAloneAndGoesWithItsDependants(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "a")
	b.create("bare", "b", to("DEPENDS_ON", "a"))
	b.create("bare", "c", to("DEPENDS_ON", "b"))
	b.create("bare", "d", to("DEPENDS_ON", "b"))
	if err := b.Link(b.ctx, "a", "DEPENDS_ON", "c"); err != nil {
		t.Fatal(err)
	}
	for id, needs := range map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"a"}} {
		_, err := b.Delete(b.ctx, id, dependency.DeleteRequest{})
		if got := refused(t, err, problem.HasDependants).Members["dependants"].([]string); !slices.Equal(slices.Sorted(slices.Values(got)), needs) {
			t.Errorf("in the way of %s: %v, want %v", id, got, needs)
		}
	}
	asked := []string{"a", "c"}
	answers := make([]dependency.Deletion, len(asked))
	var wg sync.WaitGroup
	for i, id := range asked {
		wg.Go(func() {
			var err error
			if answers[i], err = b.Delete(b.ctx, id, dependency.DeleteRequest{WithDependants: true}); err != nil {
				t.Errorf("delete %s with its dependants: %v", id, err)
			}
		})
	}
	wg.Wait()
	if answers[0].ID != answers[1].ID || len(b.taken(answers[0])) != 4 {
		t.Fatalf("deletions %s and %s, which took %v", answers[0].ID, answers[1].ID, b.taken(answers[0]))
	}
	for id := range b.taken(answers[0]) {
		b.erased(answers[0], id, b.asset(id).Generation)
	}
	b.is(dependency.Deleted, "a", "b", "c", "d")
}

// H-53, H-70: what several need, by whatever name each has it, stays with its links to the others until the last one goes.
func TestLastUserTakesTheSharedTargetAlong(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "shared")
	b.create("bare", "deeper")
	if err := b.Link(b.ctx, "shared", "USES", "deeper"); err != nil {
		t.Fatal(err)
	}
	b.create("bare", "user-1", to("USES", "shared"))
	b.create("bare", "user-2", to("USES", "shared"))
	_, err := b.Delete(b.ctx, "shared", dependency.DeleteRequest{})
	refused(t, err, problem.HasDependants)
	if got := b.taken(b.del("user-1")); len(got) != 1 {
		t.Errorf("taken by the first user: %v", got)
	}
	if a := b.asset("user-2"); b.asset("shared").Status != dependency.Live || len(a.Links) != 1 {
		t.Errorf("the second user after the first went: %s", pretty(a))
	}
	if got := b.taken(b.del("user-2")); len(got) != 3 || got["deeper"] == "" {
		t.Errorf("taken by the last user: %v", got)
	}
}

func TestSharedTargetStaysWhileSomethingElseNeedsItOrItIsHeld(t *testing.T) {
	b := newClosureBench(t)
	for _, id := range []string{"needed", "held"} {
		b.create("bare", id)
	}
	b.create("bare", "other", to("DEPENDS_ON", "needed"))
	b.create("bare", "user", to("USES", "needed"), to("USES", "held"))
	if err := b.Hold(b.ctx, "held", "law"); err != nil {
		t.Fatal(err)
	}
	if got := b.taken(b.del("user")); len(got) != 1 {
		t.Errorf("taken: %v", got)
	}
}

func TestReferencesCountWhateverElseTheirLinksDo(t *testing.T) {
	for _, reaction := range []string{"restrict", "cascade", "detach"} {
		t.Run(reaction, func(t *testing.T) {
			b := benchOn(t, newBench(t).graph, "links: {OWNS: {on_target_delete: "+reaction+", on_last_source: delete}}\nkinds: {bare: {}}\n")
			b.create("bare", "shared")
			b.create("bare", "user-1", to("OWNS", "shared"))
			b.create("bare", "user-2", to("OWNS", "shared"))
			if got := b.taken(b.del("user-1")); len(got) != 1 {
				t.Errorf("taken by the first user: %v", got)
			}
			if got := b.taken(b.del("user-2")); len(got) != 2 || got["shared"] != "its last source goes" {
				t.Errorf("taken by the last user: %v", got)
			}
		})
	}
}

func TestWhatIsFarAboveTheLimitIsCountedAll(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "root")
	for i := range 12 * 50 {
		b.create("bare", fmt.Sprintf("child-%d", i), to("PART_OF", "root"))
		b.create("bare", fmt.Sprintf("grandchild-%d", i), to("PART_OF", fmt.Sprintf("child-%d", i)))
	}
	_, err := b.Delete(b.ctx, "root", dependency.DeleteRequest{})
	if p := refused(t, err, problem.TooManyAssets); p.Members["assets_total"] != 1201 {
		t.Errorf("assets_total: %v", p.Members)
	}
}

func TestHeldChildAndTooManyAssetsRefuseTheWhole(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "root")
	for i := range 50 {
		b.create("bare", fmt.Sprintf("child-%d", i), to("PART_OF", "root"))
	}
	_, err := b.Delete(b.ctx, "root", dependency.DeleteRequest{})
	if p := refused(t, err, problem.TooManyAssets); p.Members["assets_total"] != 51 {
		t.Errorf("assets_total: %v", p.Members)
	}
	b.del("child-0")
	if err := b.Hold(b.ctx, "child-1", "law"); err != nil {
		t.Fatal(err)
	}
	_, err = b.Delete(b.ctx, "root", dependency.DeleteRequest{})
	refused(t, err, problem.OnHold)
	if err := b.Release(b.ctx, "child-1"); err != nil {
		t.Fatal(err)
	}
	if d := b.del("root"); d.Assets.Total != 50 {
		t.Errorf("total %d, want 50", d.Assets.Total)
	}
}

func TestCancelBringsTheWholeBack(t *testing.T) {
	b := newClosureBench(t)
	b.create("slow", "root")
	b.create("bare", "child", to("PART_OF", "root"))
	b.create("bare", "mentions", to("REFERENCES", "child"))
	before := pretty([]any{b.asset("root"), b.asset("child"), b.asset("mentions")})
	d := b.del("root")
	if d.Status != dependency.Scheduled || b.asset("child").Status != dependency.Deleting {
		t.Fatalf("deletion: %s", pretty(d))
	}
	got, err := b.Cancel(b.ctx, d.ID)
	if err != nil || got.Status != dependency.Cancelled {
		t.Fatalf("cancel: %s, %v", pretty(got), err)
	}
	if after := pretty([]any{b.asset("root"), b.asset("child"), b.asset("mentions")}); after != before {
		t.Errorf("after cancel:\n%s\nbefore:\n%s", after, before)
	}
	if u := b.usage("acme"); u.Pending != 0 || len(b.flags()) != 0 {
		t.Errorf("after cancel: usage %+v, flags %v", u, b.flags())
	}
	if _, err := b.Cancel(b.ctx, b.del("mentions").ID); err == nil {
		t.Error("a begun deletion was cancelled")
	}
}

func TestCancelIsRefusedWhenAnotherDeletionTakesALinkTarget(t *testing.T) {
	b := newClosureBench(t)
	b.create("slow", "base")
	b.create("slow", "user", to("PART_OF", "base"))
	first := b.del("user")
	second := b.del("base") // its child is going already
	_, err := b.Cancel(b.ctx, first.ID)
	if p := refused(t, err, problem.LinkTargetDeleting); p.Members["deletion"] != second.ID {
		t.Errorf("named deletion %v, want %s", p.Members["deletion"], second.ID)
	}
	if _, err := b.Cancel(b.ctx, second.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Cancel(b.ctx, first.ID); err != nil {
		t.Errorf("after the one in its way: %v", err)
	}
}

// H-68: an asset that would need itself is refused, and two parallel edges are one dependant and one deletion.
func TestSelfLinksAreRefusedAndParallelLinksCountOnce(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "s")
	_, _, err := b.PutAsset(b.ctx, "s", dependency.Put{Kind: "bare", Links: &[]dependency.LinkTo{to("DEPENDS_ON", "s")}})
	refused(t, err, problem.SelfLink)
	refused(t, b.Link(b.ctx, "s", "PART_OF", "s"), problem.SelfLink)
	b.create("bare", "u")
	b.create("bare", "t", to("PART_OF", "u"), to("DEPENDS_ON", "u"), to("USES", "u"))
	b.create("bare", "unrelated")
	d := b.del("u")
	if got := b.taken(d); len(got) != 2 || d.Assets.Total != 2 {
		t.Errorf("taken: %v", got)
	}
	for _, id := range []string{"t", "u"} {
		b.erased(d, id, b.asset(id).Generation)
		b.erased(d, id, b.asset(id).Generation)
	}
	if got := b.trail("u"); len(got) != 3 {
		t.Errorf("trail of u: %v", got)
	}
	if got := b.trail("t"); len(got) != 1 {
		t.Errorf("trail of t: %v", got)
	}
	b.is(dependency.Live, "s", "unrelated")
}

// H-69: depth and breadth are bounded by the brake alone, which refuses before anything is deleted.
func TestDeepAndBroadCascades(t *testing.T) {
	cases := []struct {
		name   string
		assets int
		parent func(i int) int
	}{
		{"a chain of 9,000", 9000, func(i int) int { return i - 1 }},
		{"a tree with fan-out 10", 1111, func(i int) int { return (i - 1) / 10 }},
		{"a star of 9,999", 10000, func(int) int { return 0 }},
		{"a tree above the limit", 11111, func(i int) int { return (i - 1) / 10 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := benchOn(t, newBench(t).graph, strings.Replace(closurePolicy, "max_assets_per_deletion: 50", "max_assets_per_deletion: 10000", 1))
			var lines strings.Builder
			fmt.Fprintln(&lines, `{"id":"n0","kind":"bare"}`)
			for i := 1; i < c.assets; i++ {
				fmt.Fprintf(&lines, `{"id":"n%d","kind":"bare","links":[{"type":"PART_OF","to":"n%d"}]}`+"\n", i, c.parent(i))
			}
			if res, err := b.ImportAssets(b.ctx, strings.NewReader(lines.String())); err != nil || res.Created != c.assets {
				t.Fatalf("import: %s, %v", pretty(res), err)
			}
			d, err := b.Delete(b.ctx, "n0", dependency.DeleteRequest{})
			if c.assets > 10000 {
				if p := refused(t, err, problem.TooManyAssets); p.Members["assets_total"] != c.assets {
					t.Errorf("the refusal says %v", p.Members)
				}
				b.is(dependency.Live, "n0", "n1", fmt.Sprintf("n%d", c.assets-1))
				return
			}
			if err != nil || d.Assets.Total != c.assets {
				t.Fatalf("deletion: %d assets, %v", d.Assets.Total, err)
			}
			left, err := b.Assets(b.ctx, dependency.AssetQuery{Status: dependency.Live})
			if err != nil || len(left.Items) != 0 {
				t.Errorf("left: %d, %v", len(left.Items), err)
			}
		})
	}
}

// A caller acts for its own owner only, whatever an operator has linked to its assets.
func TestNobodyTakesAnothersAssetsAlong(t *testing.T) {
	b := newBench(t)
	put := func(owner, id string, links ...dependency.LinkTo) {
		t.Helper()
		if _, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: "bare", Owner: owner, Links: &links}); err != nil {
			t.Fatal(err)
		}
	}
	put("red", "whole")
	put("blue", "part", partOf("whole"))
	put("red", "needed")
	put("blue", "user", needs("needed"))
	red := b.as("red")
	for id, r := range map[string]dependency.DeleteRequest{"whole": {}, "needed": {WithDependants: true}} {
		_, err := b.Delete(red, id, r)
		if p := problem.As(err); p == nil || p.Name != problem.HasDependants || p.Members["dependants_total"] != 1 {
			t.Errorf("%s: %v", id, err)
		}
		plan, err := b.Plan(red, id, dependency.PlanRequest{WithDependants: r.WithDependants})
		if err != nil || len(plan.Assets) != 1 || plan.BlockersTotal != 1 {
			t.Errorf("plan of %s: %+v, %v", id, plan, err)
		}
	}
	if _, err := b.DeleteSet(red, dependency.SetRequest{IDs: []string{"whole", "needed"}, WithDependants: true}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"whole", "part", "needed", "user"} {
		if a := b.asset(id); a.Status != dependency.Live {
			t.Errorf("%s is %s", id, a.Status)
		}
	}
	if d := b.del("whole"); d.Assets.Total != 2 { // an operator may
		t.Errorf("an operator takes %d assets", d.Assets.Total)
	}
}
