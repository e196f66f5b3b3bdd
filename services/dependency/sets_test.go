package dependency_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func (b *bench) set(r dependency.SetRequest) dependency.SetAnswer {
	b.t.Helper()
	answer, err := b.DeleteSet(b.ctx, r)
	if err != nil {
		b.t.Fatalf("delete %v: %v", r.IDs, err)
	}
	if len(answer.Results) != len(r.IDs) {
		b.t.Fatalf("%d results for %d ids", len(answer.Results), len(r.IDs))
	}
	for i, res := range answer.Results {
		if res.ID != r.IDs[i] || (res.Deletion == nil) == (res.Refusal == nil) {
			b.t.Fatalf("result %d: %s", i, pretty(res))
		}
	}
	return answer
}

// outcomes are the names of the refusals, "" for what is accepted, in the order of the ids.
func outcomes(answer dependency.SetAnswer) (names []problem.Name) {
	for _, r := range answer.Results {
		if r.Refusal != nil {
			names = append(names, r.Refusal.Name)
		} else {
			names = append(names, "")
		}
	}
	return names
}

func (b *bench) batch(id string) dependency.Batch {
	b.t.Helper()
	batch, err := b.Batch(b.ctx, id, "")
	if err != nil {
		b.t.Fatalf("read batch %s: %v", id, err)
	}
	return batch
}

func (b *bench) is(status dependency.Status, ids ...string) {
	b.t.Helper()
	for _, id := range ids {
		if got := b.asset(id).Status; got != status {
			b.t.Errorf("%s is %s, want %s", id, got, status)
		}
	}
}

// H-67: a ring of assets that need each other goes, with what depends on it from outside refused or named too.
func TestAssetsOfASetDoNotBlockEachOther(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "a")
	b.create("bare", "b", to("DEPENDS_ON", "a"))
	b.create("bare", "c", to("DEPENDS_ON", "b"))
	if err := b.Link(b.ctx, "a", "DEPENDS_ON", "c"); err != nil {
		t.Fatal(err)
	}
	b.create("bare", "child", to("PART_OF", "b"))
	b.create("bare", "mentions", to("REFERENCES", "b"))
	answer := b.set(dependency.SetRequest{IDs: []string{"c", "a", "b", "a"}, Reason: "all"})
	seen := map[string]bool{}
	for _, r := range answer.Results {
		if r.Deletion == nil || r.Deletion.Root != r.ID || r.Deletion.Reason != "all" || r.Deletion.Status != dependency.Deleting {
			t.Fatalf("result: %s", pretty(r))
		}
		seen[r.Deletion.ID] = true
	}
	if len(seen) != 3 || answer.Results[1].Deletion.ID != answer.Results[3].Deletion.ID {
		t.Errorf("one deletion an asset: %s", pretty(answer))
	}
	if got := b.taken(*answer.Results[2].Deletion); len(got) != 2 || got["child"] != "PART_OF b" {
		t.Errorf("taken by b: %v", got)
	}
	if m := b.asset("mentions"); m.Status != dependency.Live || len(m.Links) != 0 {
		t.Errorf("the source of a detached link: %s", pretty(m))
	}
	list, err := b.Deletions(b.ctx, dependency.DeletionQuery{Batch: answer.Batch})
	if err != nil || len(list.Items) != 3 {
		t.Errorf("deletions of the batch: %s, %v", pretty(list), err)
	}
	if got := b.batch(answer.Batch); got.Status != dependency.Deleting || got.Accepted != 3 || got.Deleted != 0 || got.RefusedTotal != 0 {
		t.Errorf("batch: %s", pretty(got))
	}
	for _, r := range answer.Results[:3] {
		for asset := range b.taken(*r.Deletion) {
			b.erased(*r.Deletion, asset, b.asset(asset).Generation)
		}
	}
	b.is(dependency.Deleted, "a", "b", "c", "child")
	if got := b.batch(answer.Batch); got.Status != dependency.Deleted || got.Deleted != 3 {
		t.Errorf("batch at the end: %s", pretty(got))
	}
	if again := b.set(dependency.SetRequest{IDs: []string{"a"}}); again.Results[0].Deletion.ID != answer.Results[1].Deletion.ID {
		t.Errorf("what is deleted is answered with its deletion: %s", pretty(again))
	}
}

func TestWhatIsRefusedOfASetStaysWithWhatItKeeps(t *testing.T) {
	b := newClosureBench(t)
	// outsider → mid → base; held → kept; the parent of a held child; a chain over what one of the set takes along.
	b.create("bare", "base")
	b.create("bare", "mid", to("DEPENDS_ON", "base"))
	b.create("bare", "outsider", to("DEPENDS_ON", "mid"))
	b.create("bare", "kept")
	b.create("bare", "held", to("DEPENDS_ON", "kept"))
	b.create("bare", "parent")
	b.create("bare", "held-child", to("PART_OF", "parent"))
	b.create("bare", "far")
	b.create("bare", "mids-child", to("PART_OF", "mid"), to("DEPENDS_ON", "far"))
	b.create("bare", "free")
	b.create("bare", "on-free", to("DEPENDS_ON", "free"))
	b.hold("held", "law")
	b.hold("held-child", "law")
	ids := []string{"base", "mid", "kept", "held", "parent", "far", "free", "on-free", "nobody", "a\x00b"}
	answer := b.set(dependency.SetRequest{IDs: ids})
	want := []problem.Name{problem.HasDependants, problem.HasDependants, problem.HasDependants, problem.OnHold, problem.OnHold, problem.HasDependants, "", "",
		problem.NotFound, problem.InvalidID}
	if got := outcomes(answer); !slices.Equal(got, want) {
		t.Fatalf("outcomes of %v: %v, want %v", ids, got, want)
	}
	for i, by := range map[int]string{0: "mid", 1: "outsider", 2: "held", 5: "mids-child"} {
		if m := answer.Results[i].Refusal.Members; !slices.Equal(m["dependants"].([]string), []string{by}) || m["dependants_total"] != 1 {
			t.Errorf("%s is kept by %v, want %s", ids[i], m, by)
		}
	}
	b.is(dependency.Live, "base", "mid", "outsider", "kept", "held", "parent", "held-child", "far", "mids-child")
	b.is(dependency.Deleting, "free", "on-free")
	batch := b.batch(answer.Batch)
	if batch.Accepted != 2 || batch.RefusedTotal != 7 || len(batch.Refused) != 7 {
		t.Errorf("batch: %s", pretty(batch))
	}
	for _, r := range batch.Refused {
		if i := slices.Index(ids, r.ID); i < 0 || answer.Results[i].Refusal.Name != r.Refusal.Name || answer.Results[i].Refusal.Detail != r.Refusal.Detail {
			t.Errorf("refused in the batch: %s", pretty(r))
		}
	}
}

func TestSetWithDependantsTakesThemAlong(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "shared")
	b.create("bare", "a")
	b.create("bare", "b", to("DEPENDS_ON", "a"))
	b.create("bare", "user", to("DEPENDS_ON", "b"), to("USES", "shared"))
	answer := b.set(dependency.SetRequest{IDs: []string{"a", "b"}, WithDependants: true})
	if got := b.taken(*answer.Results[0].Deletion); len(got) != 1 {
		t.Errorf("taken by a, whose dependant is of the set itself: %v", got)
	}
	if got := b.taken(*answer.Results[1].Deletion); len(got) != 3 || got["user"] != "DEPENDS_ON b" || got["shared"] != "its last source goes" {
		t.Errorf("taken by b: %v", got)
	}
}

func TestSetIsForOnesOwnAssets(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "acmes")
	answer, err := b.DeleteSet(b.as("globex"), dependency.SetRequest{IDs: []string{"acmes", "nobody"}})
	if err != nil || !slices.Equal(outcomes(answer), []problem.Name{problem.NotFound, problem.NotFound}) {
		t.Errorf("a stranger's set: %s, %v", pretty(answer), err)
	}
	b.is(dependency.Live, "acmes")
	if _, err := b.Batch(b.as("acme"), answer.Batch, ""); problem.As(err) == nil || problem.As(err).Name != problem.NotFound {
		t.Errorf("another owner's batch: %v", err)
	}
	for _, ids := range [][]string{nil, make([]string, 1001)} {
		_, err := b.DeleteSet(b.ctx, dependency.SetRequest{IDs: ids})
		refused(t, err, problem.InvalidRequest)
	}
}

func TestBrakesOfASet(t *testing.T) {
	b := newClosureBench(t) // 50 assets a deletion
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf("plain-%d", i))
		b.create("bare", many[i])
	}
	b.create("bare", "root")
	for i := range 50 {
		b.create("bare", fmt.Sprintf("child-%d", i), to("PART_OF", "root"))
	}
	b.create("bare", "needed")
	if err := b.Link(b.ctx, "root", "DEPENDS_ON", "needed"); err != nil {
		t.Fatal(err)
	}
	answer := b.set(dependency.SetRequest{IDs: append(many, "root", "needed")})
	got := outcomes(answer)
	if got[60] != problem.TooManyAssets || got[61] != problem.HasDependants || answer.Results[60].Refusal.Members["assets_total"] != 51 {
		t.Errorf("outcomes: %v", got)
	}
	b.is(dependency.Deleting, many...) // each is a deletion of one
	b.is(dependency.Live, "root", "needed", "child-0")
}

func TestDetachedLinkBetweenAssetsOfASetComesBackWithItsTarget(t *testing.T) {
	b := newClosureBench(t)
	b.create("slow", "target")
	b.create("slow", "source", to("REFERENCES", "target"))
	answer := b.set(dependency.SetRequest{IDs: []string{"target", "source"}})
	cancel := func(i int) {
		t.Helper()
		if _, err := b.Cancel(b.ctx, answer.Results[i].Deletion.ID); err != nil {
			t.Fatal(err)
		}
	}
	cancel(1)
	if a := b.asset("source"); a.Status != dependency.Live || len(a.Links) != 0 {
		t.Errorf("the source alone: %s", pretty(a))
	}
	cancel(0)
	if a := b.asset("source"); len(a.Links) != 1 {
		t.Errorf("with its target: %s", pretty(a))
	}
	if got := b.batch(answer.Batch); got.Status != dependency.Deleted || got.Cancelled != 2 {
		t.Errorf("batch: %s", pretty(got))
	}
}
