package dependency_test

import (
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
