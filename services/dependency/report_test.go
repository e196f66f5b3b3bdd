package dependency_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// unsure is a graph whose next transaction has its answer lost, after its commit or before it.
type unsure struct {
	dependency.Graph
	after, before atomic.Bool
}

func (g *unsure) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	lost := problem.New(problem.Unavailable, "the answer was lost")
	if g.before.CompareAndSwap(true, false) {
		return lost
	}
	if err := g.Graph.Update(ctx, fn); err != nil {
		return err
	}
	if g.after.CompareAndSwap(true, false) {
		return lost
	}
	return nil
}

// H-20: when nobody knows whether the transaction was committed the caller is told so, and asking again gives the one
// deletion that there is; its command goes out although the process that wrote the flag never heard of it.
func TestALostAnswerOfTheGraphMakesNoSecondDeletion(t *testing.T) {
	for name, arm := range map[string]func(*unsure){
		"it was committed":     func(g *unsure) { g.after.Store(true) },
		"it was not committed": func(g *unsure) { g.before.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			g := &unsure{Graph: newBench(t).graph}
			b := benchOn(t, g, policyText)
			b.create("item", "x")
			arm(g)
			_, err := b.Delete(b.ctx, "x", dependency.DeleteRequest{})
			refused(t, err, problem.Unavailable)
			d, again := b.del("x"), b.del("x")
			if d.ID != again.ID || d.ID != b.asset("x").Deletion {
				t.Errorf("deletions %s and %s, the asset has %s", d.ID, again.ID, b.asset("x").Deletion)
			}
			if got := b.trail("x"); !slices.Equal(got, []string{events.TypeDeletionRequested}) {
				t.Errorf("trail: %v", got)
			}
			b.advance(time.Minute) // the claim of T1 has run out
			flags, err := b.Commands().Claim(t.Context(), 10, time.Minute)
			if err != nil || len(flags) != 1 {
				t.Errorf("%d commands to publish, %v; want 1", len(flags), err)
			}
		})
	}
}

// H-64: what is deleted is in no list of live assets, no related one and no counter; exactly its own links are gone.
func TestADeletedAssetIsInNoListLinkOrCounter(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "other")
	st := b.create("bare", "st", to("REFERENCES", "other"))
	for _, id := range []string{"x", "y"} {
		b.create("bare", id, to("REFERENCES", "st"), to("REFERENCES", "other"))
	}
	before := b.usage("acme")
	b.erased(b.del("st"), "st", st.Generation)
	live, err := b.Assets(b.ctx, dependency.AssetQuery{Status: dependency.Live})
	if err != nil || len(live.Items) != 3 {
		t.Errorf("live: %s, %v", pretty(live.Items), err)
	}
	for _, id := range []string{"x", "y"} {
		if got := b.asset(id).Links; len(got) != 1 || got[0].To != "other" {
			t.Errorf("links of %s: %s", id, pretty(got))
		}
	}
	for id, want := range map[string]int{"other": 2, "st": 0} {
		found, err := b.Dependants(b.ctx, id, "")
		if err != nil || len(found.Items) != want {
			t.Errorf("linked to %s: %s, %v; want %d", id, pretty(found.Items), err, want)
		}
	}
	err = b.graph.View(b.ctx, func(tx dependency.Tx) error { // nor hidden ones, which a new generation would inherit
		left, err := tx.Outgoing(b.ctx, []string{"other", "st", "x", "y"})
		for _, l := range left {
			if l.From == "st" || l.To == "st" || l.Hidden != "" {
				t.Errorf("left in the graph: %+v", l)
			}
		}
		if len(left) != 2 {
			t.Errorf("%d links are left, want those of the others alone", len(left))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.usage("acme"); got.Assets != before.Assets-1 || got.Pending != 0 {
		t.Errorf("usage: %+v, before %+v", got, before)
	}
}

// H-61: deleting needs nothing of what an asset belongs to: neither a parent that is deleted, nor a record of its links.
// What the graph does not know is not there.
func TestAnAssetWhoseParentIsGoneCanBeDeleted(t *testing.T) {
	b := newClosureBench(t)
	parent := b.create("bare", "parent")
	child := b.create("bare", "child", to("REFERENCES", "parent"))
	b.erased(b.del("parent"), "parent", parent.Generation)
	err := b.graph.Update(t.Context(), func(tx dependency.Tx) error { // a link that somebody left behind
		return tx.SaveLinks(t.Context(), []dependency.Link{{From: "child", Type: "DEPENDS_ON", To: "parent"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	d := b.del("child")
	b.erased(d, "child", child.Generation)
	if got := b.deletion(d.ID).Status; got != dependency.Deleted {
		t.Errorf("deletion is %s", got)
	}
	_, err = b.Delete(b.ctx, "nobody", dependency.DeleteRequest{})
	refused(t, err, problem.NotFound)
}
