package dependency_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestUsageFollowsAnAssetToItsEnd(t *testing.T) {
	b := newBench(t)
	limit := dependency.UsageLimit{Assets: 2, Bytes: 100} // of the owner small
	want := func(when string, assets, bytes, pending int64) {
		t.Helper()
		got, err := b.Usage(b.ctx, "small")
		if diff := cmp.Diff(dependency.UsageView{Assets: assets, Bytes: bytes, Pending: pending, Limit: limit}, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", when, err, diff)
		}
	}
	want("of an owner without assets", 0, 0, 0)
	size := int64(60)
	put := func(id, kind string) (dependency.Asset, error) {
		a, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: kind, Owner: "small", Bytes: &size})
		return a, err
	}
	a, err := put("x", "item")
	if err != nil {
		t.Fatal(err)
	}
	_, err = put("y", "slow")
	refused(t, err, problem.QuotaExceeded)
	want("after a refusal", 1, 60, 0)
	size = 40
	if _, err = put("y", "slow"); err != nil {
		t.Fatal(err)
	}
	waiting := b.del("y")
	want("while one is scheduled", 2, 100, 40)
	if _, err := b.Cancel(b.ctx, waiting.ID); err != nil {
		t.Fatal(err)
	}
	want("after the cancel", 2, 100, 0)
	d := b.del("x")
	b.del("x")
	want("while one is deleting", 2, 100, 60)
	b.erased(d, "x", a.Generation)
	b.erased(d, "x", a.Generation)
	want("after it is deleted", 1, 40, 0)
}

func TestUsageIsTheOwnersAndTheOperators(t *testing.T) {
	b := newBench(t)
	if _, err := b.Usage(b.as("small"), "small"); err != nil {
		t.Errorf("one's own: %v", err)
	}
	for _, owner := range []string{"acme", "nobody"} { // a foreign owner and an unknown one look alike
		_, err := b.Usage(b.as("small"), owner)
		refused(t, err, problem.NotFound)
	}
	if got, err := b.Usage(b.ctx, "nobody"); err != nil || got != (dependency.UsageView{}) {
		t.Errorf("an owner that nobody knows: %+v, %v", got, err)
	}
}

func TestQuotaHoldsAgainstManyAtOnce(t *testing.T) {
	b := newBench(t)
	var created, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			_, _, err := b.PutAsset(b.ctx, fmt.Sprintf("x-%d", i), dependency.Put{Kind: "bare", Owner: "small"})
			switch p := problem.As(err); {
			case err == nil:
				created.Add(1)
			case p != nil && p.Name == problem.QuotaExceeded:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if created.Load() != 2 || refused.Load() != 18 || b.usage("small") != (dependency.Usage{Assets: 2}) {
		t.Errorf("%d created, %d refused, usage %+v", created.Load(), refused.Load(), b.usage("small"))
	}
}

// A deletion is never refused for a quota, also where the quota was lowered below what is there; growth is.
func TestALoweredQuotaLetsDeletionsThrough(t *testing.T) {
	b := newRetention(t, "kinds: {bare: {}}")
	size := int64(60)
	for _, id := range []string{"x", "y", "z"} {
		if _, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: "bare", Bytes: &size}); err != nil {
			t.Fatal(err)
		}
	}
	lowered := benchOn(t, b.graph, "quotas: {default: {assets: 1, bytes: 10}}\nkinds: {bare: {}}")
	d := lowered.del("x")
	lowered.erased(d, "x", lowered.asset("x").Generation)
	if got := lowered.usage("acme"); got != (dependency.Usage{Assets: 2, Bytes: 120}) {
		t.Errorf("usage: %+v", got)
	}
	size = 61
	_, _, err := lowered.PutAsset(lowered.ctx, "y", dependency.Put{Kind: "bare", Bytes: &size})
	refused(t, err, problem.QuotaExceeded)
	size = 59
	if _, _, err := lowered.PutAsset(lowered.ctx, "y", dependency.Put{Kind: "bare", Bytes: &size}); err != nil {
		t.Errorf("shrinking: %v", err)
	}
}

// What expires is released like what people delete: once, when it is gone; a part alone releases nothing.
func TestExpiryReleasesOnce(t *testing.T) {
	b := newRetention(t, partsExpire)
	size := int64(60)
	if _, _, err := b.PutAsset(b.ctx, "x", dependency.Put{Kind: "check", Bytes: &size, Attributes: map[string]any{"state": "done"}}); err != nil {
		t.Fatal(err)
	}
	want := func(when string, u dependency.Usage) {
		t.Helper()
		if got := b.usage("acme"); got != u {
			t.Errorf("%s: want %+v, got %+v", when, u, got)
		}
	}
	generation := b.asset("x").Generation
	b.advance(8 * day)
	b.expire()
	want("while a part goes", dependency.Usage{Assets: 1, Bytes: 60})
	b.erased(b.deletion(b.partDeletion("x", "raw")), "x", generation)
	want("once the part is gone", dependency.Usage{Assets: 1, Bytes: 60})
	b.advance(365 * day)
	b.expire()
	want("while the asset goes", dependency.Usage{Assets: 1, Bytes: 60, Pending: 60})
	d := b.deletion(b.asset("x").Deletion)
	for range 2 {
		b.erased(d, "x", generation)
	}
	b.expire()
	want("once it is gone", dependency.Usage{})
}
