package dependency_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestASoundSystemHasNoViolations(t *testing.T) {
	b, s := planBench(t)
	b.create("bare", "root")
	b.create("item", "child", to("PART_OF", "root"))
	b.create("bare", "mentions", to("REFERENCES", "root"), to("DEPENDS_ON", "root"))
	b.create("slow", "cancelled")
	b.create("slow", "scheduled")
	b.create("item", "running")
	b.create("item", "again")
	b.create("item", "parted")
	b.sound(8)
	if _, err := b.Cancel(b.ctx, b.del("cancelled").ID); err != nil {
		t.Fatal(err)
	}
	b.del("scheduled")
	b.del("running")
	first := b.asset("again")
	b.gone("again")
	again := b.create("item", "again")
	s.put("again", again.Generation, version("payload", "x", "v1", 1))
	part, err := b.DeletePart(b.ctx, "parted", "note", dependency.DeleteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	b.sound(8)
	b.erased(part, "parted", b.asset("parted").Generation)
	if err := b.Unlink(b.ctx, "mentions", "DEPENDS_ON", "root"); err != nil {
		t.Fatal(err)
	}
	d := b.del("root")
	b.sound(8)
	b.erased(d, "root", b.asset("root").Generation)
	b.erased(d, "child", b.asset("child").Generation)
	b.sound(8)
	s.put("again", first.Generation, version("payload", "x", "v0", 1))
	if found := b.alone("G3", "again", "lies a version at assets/x"); found.Generation != first.Generation || found.Part != "payload" {
		t.Errorf("got %s", pretty(found))
	}
	b.create("bare", "page-0")
	for i := range 450 { // more than two pages, of assets and of deletions
		id := fmt.Sprint("page-", i+1)
		b.create("bare", id, to("PART_OF", "page-0"))
		if i%3 == 0 {
			b.del(id)
		}
	}
	if v := b.verify(); v.Checked != 459 || v.Total != 1 {
		t.Errorf("got %s", pretty(v))
	}
}

func TestVerifyIsForOperatorsAndNeedsTheStores(t *testing.T) {
	b, s := planBench(t)
	_, err := b.Verify(b.as("acme"), dependency.VerifyRequest{})
	refused(t, err, problem.Forbidden)
	b.create("item", "a")
	b.gone("a")
	s.before = func() error { return problem.New(problem.Unavailable, "away") }
	_, err = b.Verify(b.ctx, dependency.VerifyRequest{})
	refused(t, err, problem.Unavailable)
}

func TestAnAdoptedAssetCountsFromItsFirstContactOn(t *testing.T) {
	b, _ := planBench(t)
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		return tx.SaveNodes(ctx, []dependency.Node{{ID: "old", Kind: "item", Owner: "acme", Status: dependency.Live, Bytes: 7},
			{ID: "child", Kind: "item", Owner: "acme", Status: dependency.Live, Bytes: 5}})
	})
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		return tx.SaveLinks(ctx, []dependency.Link{{From: "child", Type: "PART_OF", To: "old"}})
	})
	b.sound(2)
	p := b.plan("old", false)
	if p.Assets[0].Generation != "" || b.usage("acme") != (dependency.Usage{}) {
		t.Errorf("planned: %s, usage %+v", pretty(p), b.usage("acme"))
	}
	d, err := b.Delete(b.ctx, "old", dependency.DeleteRequest{IfPlan: p.Hash})
	if err != nil {
		t.Fatal(err)
	}
	if u := b.usage("acme"); u != (dependency.Usage{Assets: 2, Bytes: 12, Pending: 12}) {
		t.Errorf("usage while deleting: %+v", u)
	}
	b.sound(2)
	for _, id := range []string{"old", "child"} {
		b.erased(d, id, b.asset(id).Generation)
	}
	if u := b.usage("acme"); u != (dependency.Usage{}) {
		t.Errorf("usage afterwards: %+v", u)
	}
	b.sound(2)
}

func TestAnswersHoldTheFirstThousandViolations(t *testing.T) {
	b := newClosureBench(t)
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		var nodes []dependency.Node
		for i := range 1005 {
			nodes = append(nodes, dependency.Node{ID: fmt.Sprint("n", i), Kind: "bare", Owner: "acme", Generation: "g", Status: dependency.Live, Sequence: 1})
		}
		if err := tx.AddUsage(ctx, map[string]dependency.Usage{"acme": {Assets: 1005}}); err != nil {
			return err
		}
		return tx.SaveNodes(ctx, nodes)
	})
	if v := b.verify(); v.Total != 1005 || len(v.Violations) != 1000 || v.Checked != 1005 {
		t.Errorf("%d violations of %d, %d assets", len(v.Violations), v.Total, v.Checked)
	}
}
