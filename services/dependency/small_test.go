package dependency_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestAReportCannotPutADeletionOffForLong(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.del("x")
	if err := b.Commands().Sent(t.Context(), []string{b.flags()[0].ID}); err != nil {
		t.Fatal(err)
	}
	runSentOnce(t, b)
	forged := b.now().AddDate(100, 0, 0)
	b.report(events.TypePartProgress, events.PartProgress{Deletion: d.ID, Asset: "x", Generation: a.Generation, Part: "payload",
		Status: events.ProgressRetry, Attempts: 1, NextTry: &forged})
	for _, step := range b.deletion(d.ID).Steps {
		if step.NextTry != nil && step.NextTry.After(b.now().Add(time.Hour)) {
			t.Errorf("next try of %s: %v", step.Part, step.NextTry)
		}
	}
	b.advance(time.Hour)
	if err := b.Resend(t.Context()); err != nil || len(b.flags()) != 1 {
		t.Errorf("%d flags after an hour, %v; want 1", len(b.flags()), err)
	}
}

func TestAWaitThatEndsBeforeTheDueTimeIsNoWait(t *testing.T) {
	b := newBench(t)
	b.create("slow", "x")
	d, err := b.Delete(b.ctx, "x", dependency.DeleteRequest{Wait: 10 * time.Minute}) // the test would not end before that
	if err != nil || d.Status != dependency.Scheduled {
		t.Errorf("deletion: %s, %v", pretty(d), err)
	}
}

func TestDependantsOfOtherOwnersCountAndAreNotNamed(t *testing.T) {
	b := newClosureBench(t)
	put := func(owner, id string, links ...dependency.LinkTo) {
		t.Helper()
		if _, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: "bare", Owner: owner, Links: &links}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"plain", "shared"} { // the second takes others along, so its deletion is decided in another way
		put("red", id)
		put("red", "own-of-"+id, to("DEPENDS_ON", id))
		put("blue", "secret-of-"+id, to("DEPENDS_ON", id))
	}
	put("red", "mention", to("REFERENCES", "shared"))
	put("red", "alone")
	put("blue", "secret-of-alone", to("DEPENDS_ON", "alone"))
	for id, want := range map[string]struct{ names, total int }{"plain": {1, 2}, "shared": {1, 2}, "alone": {0, 1}} {
		_, err := b.Delete(b.as("red"), id, dependency.DeleteRequest{})
		p := refused(t, err, problem.HasDependants)
		names, _ := p.Members["dependants"].([]string)
		if len(names) != want.names || p.Members["dependants_total"] != want.total || strings.Contains(pretty(p), "secret") {
			t.Errorf("refusal of %s: %s %s", id, p, pretty(p.Members))
		}
		listed, err := b.Dependants(b.as("red"), id, "")
		if err != nil || strings.Contains(pretty(listed), "secret") {
			t.Errorf("dependants of %s: %s, %v", id, pretty(listed), err)
		}
		plan, err := b.Plan(b.as("red"), id, dependency.PlanRequest{})
		if err != nil || plan.BlockersTotal != want.total || len(plan.Blockers) != want.names || strings.Contains(pretty(plan.Blockers), "secret") {
			t.Errorf("plan of %s: %s, %v", id, pretty(plan), err)
		}
		set, err := b.DeleteSet(b.as("red"), dependency.SetRequest{IDs: []string{id}, Reason: "test"})
		if err != nil || len(set.Results) != 1 || strings.Contains(pretty(set), "secret") {
			t.Errorf("set of %s: %s, %v", id, pretty(set), err)
		}
		_, err = b.Delete(b.ctx, id, dependency.DeleteRequest{})
		if all, _ := refused(t, err, problem.HasDependants).Members["dependants"].([]string); len(all) != want.total {
			t.Errorf("an operator sees %v of %s", all, id)
		}
	}
}

func TestNumbersInAttributesAreKeptOrRefused(t *testing.T) {
	b := newBench(t)
	kept := map[string]any{"n": float64(1<<53 - 1), "list": []any{-float64(1<<53 - 1), 0.1}}
	if _, _, err := b.PutAsset(b.ctx, "x", dependency.Put{Kind: "bare", Attributes: kept}); err != nil {
		t.Fatal(err)
	}
	if got := pretty(b.asset("x").Attributes); got != `{"list":[-9007199254740991,0.1],"n":9007199254740991}` {
		t.Errorf("attributes: %s", got)
	}
	_, _, err := b.PutAsset(b.ctx, "x", dependency.Put{Kind: "bare", Attributes: map[string]any{"a": []any{map[string]any{"b": float64(1 << 53)}}}})
	if p := refused(t, err, problem.InvalidRequest); p.Field != "attributes.a[0].b" {
		t.Errorf("refusal at %q", p.Field)
	}
}

func TestReplicasThatLookAtOnceFlagASilentErasureOnce(t *testing.T) {
	const assets, replicas = 30, 3
	b := newBench(t)
	for i := range assets {
		b.create("item", fmt.Sprint("x", i))
		b.del(fmt.Sprint("x", i))
	}
	for _, f := range b.flags() {
		if err := b.Commands().Sent(t.Context(), []string{f.ID}); err != nil {
			t.Fatal(err)
		}
	}
	runSentOnce(t, b)
	b.advance(time.Hour)
	var all sync.WaitGroup
	for range replicas {
		r, err := dependency.New(dependency.Config{Graph: b.graph, Policy: parse(t, policyText), Now: b.now})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := r.Resend(t.Context()); err != nil {
				t.Errorf("look: %v", err)
			}
		})
	}
	all.Wait()
	flagged := map[string]int{}
	for _, f := range b.flags() {
		flagged[f.Asset]++
	}
	if len(flagged) != assets || len(b.flags()) != assets {
		t.Errorf("%d flags of %d assets, want one each of %d", len(b.flags()), len(flagged), assets)
	}
}
