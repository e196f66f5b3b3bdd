package dependency_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const canaries = `
canary: {every: 10m, bucket: assets}
quotas: {default: {assets: 1, bytes: 1}}
kinds: {bare: {}}
`

// aviary is a bench whose asset service takes what it is told to, unless it fails.
type aviary struct {
	*bench
	planted []string
	fail    error
	// whilePlanting is called when something is planted, unless it is nil.
	whilePlanting func()
}

func newAviary(t *testing.T) *aviary {
	t.Helper()
	return aviaryOn(t, newBench(t).graph)
}

func aviaryOn(t *testing.T, g dependency.Graph) *aviary {
	t.Helper()
	a := &aviary{}
	var err error
	a.bench = benchWith(t, g, canaries, func(c *dependency.Config) {
		if c.Policy, err = c.Policy.WithCanary("tombstone"); err != nil {
			t.Fatal(err)
		}
		c.Plant = func(_ context.Context, asset string) error {
			a.planted = append(a.planted, asset)
			if a.whilePlanting != nil {
				a.whilePlanting()
			}
			return a.fail
		}
	})
	return a
}

func (a *aviary) fly() {
	a.t.Helper()
	if err := a.FlyCanary(a.t.Context()); err != nil {
		a.t.Fatalf("fly: %v", err)
	}
}

// last is the canary that was planted last.
func (a *aviary) last() string { return a.planted[len(a.planted)-1] }

// end reports that the last canary is gone from the stores.
func (a *aviary) end() {
	a.t.Helper()
	was := a.asset(a.last())
	a.erased(a.deletion(was.Deletion), was.ID, was.Generation)
}

func (a *aviary) ageIs(want time.Duration) {
	a.t.Helper()
	b, err := a.Backlog(a.t.Context())
	if err != nil || b.Canary != want || b.CanaryEvery != 10*time.Minute {
		a.t.Errorf("age %s every %s, %v; want %s", b.Canary, b.CanaryEvery, err, want)
	}
}

func TestACanaryGoesTheWholeWayAndLeavesNoTrace(t *testing.T) {
	a := newAviary(t)
	a.fly()
	first := a.last()
	was := a.asset(first)
	if !strings.HasPrefix(first, "tombstone-canary-") || was.Kind != "tombstone-canary" || was.Owner != "tombstone-canary" || was.Status != dependency.Deleting {
		t.Errorf("the canary: %s", pretty(was))
	}
	a.advance(time.Minute)
	a.ageIs(time.Minute) // since the first began
	a.end()
	a.ageIs(0)
	a.advance(9 * time.Minute)
	a.ageIs(9 * time.Minute)
	a.fly()
	a.ageIs(9 * time.Minute)
	a.end()
	a.ageIs(0)
	_, err := a.Asset(a.ctx, first)
	refused(t, err, problem.NotFound)
	_, err = a.Deletion(a.ctx, was.Deletion, "")
	refused(t, err, problem.NotFound)
	if trail := a.trail(first); len(trail) > 0 {
		t.Errorf("its trail: %v", trail)
	}
	list, err := a.Deletions(a.ctx, dependency.DeletionQuery{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("deletions: %s, %v", pretty(list), err)
	}
	if got := a.usage("tombstone-canary"); got != (dependency.Usage{}) {
		t.Errorf("usage: %+v", got)
	}
}

func TestACanaryThatDoesNotGetThroughGrowsOldAndIsExplained(t *testing.T) {
	a := newAviary(t)
	a.fly()
	a.end()
	a.advance(10 * time.Minute)
	a.fail = errors.New("the bucket is closed")
	if err := a.FlyCanary(t.Context()); err == nil || !strings.Contains(err.Error(), "the bucket is closed") {
		t.Fatalf("a store that takes nothing: %v", err)
	}
	stuck := a.asset(a.last())
	x, err := a.Explain(a.ctx, stuck.Deletion)
	if err != nil || x.Root != stuck.ID || x.WaitsFor == "" {
		t.Errorf("explain: %s, %v", pretty(x), err)
	}
	a.advance(10 * time.Minute)
	a.fail = nil
	a.fly() // the last one is under way, so no other begins
	a.ageIs(20 * time.Minute)
	a.advance(10 * time.Minute)
	if err := a.FlyCanary(t.Context()); err == nil || !strings.Contains(err.Error(), "tombstone explain "+stuck.Deletion) {
		t.Errorf("after more than the schedule: %v", err)
	}
	if len(a.planted) != 2 {
		t.Fatalf("planted: %v", a.planted)
	}
	a.end() // it is gone, but its content was never written
	a.ageIs(30 * time.Minute)
	a.fly()
	a.end()
	a.ageIs(0)
}

func TestACanaryThatWasGivenUpDoesNotCount(t *testing.T) {
	a := newAviary(t)
	a.fly()
	a.advance(time.Minute)
	for _, part := range []string{"document", "object"} {
		if _, err := a.Force(a.ctx, a.asset(a.last()).Deletion, dependency.Force{Part: part, Reason: "gone"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.asset(a.last()).Status; got != dependency.Deleted {
		t.Fatalf("it is %s", got)
	}
	a.ageIs(time.Minute)
}

func TestACrashOnTheWayLeavesNoSecondCanary(t *testing.T) {
	a := newAviary(t)
	ctx, crash := context.WithCancel(t.Context())
	a.whilePlanting = crash
	if err := a.FlyCanary(ctx); err == nil || a.asset(a.last()).Status != dependency.Live {
		t.Fatalf("it went on: %v", err)
	}
	a.whilePlanting = nil
	a.advance(10 * time.Minute)
	a.fly() // the one that was left is deleted first
	a.end()
	a.advance(10 * time.Minute)
	a.ageIs(20 * time.Minute)
	a.fly()
	list, err := a.Assets(a.ctx, dependency.AssetQuery{})
	if err != nil || len(a.planted) != 2 || len(list.Items) != 1 || list.Items[0].ID != a.last() {
		t.Errorf("planted %v; assets: %s, %v", a.planted, pretty(list), err)
	}
}

// overtaken is a graph where another replica is done with an asset first: whoever locks it once it is set waits, and the other's
// transaction is committed before the lock is there.
type overtaken struct {
	dependency.Graph
	asset string
	by    func(ctx context.Context, tx dependency.Tx) error
}

func (g *overtaken) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	return g.Graph.Update(ctx, func(tx dependency.Tx) error { return fn(overtakenTx{tx, g}) })
}

type overtakenTx struct {
	dependency.Tx
	g *overtaken
}

func (tx overtakenTx) Lock(ctx context.Context, l dependency.Locks) error {
	if slices.Contains(l.Assets, tx.g.asset) {
		tx.g.asset = ""
		if err := tx.g.by(ctx, tx.Tx); err != nil {
			return err
		}
	}
	return tx.Tx.Lock(ctx, l)
}

func TestACanaryThatAnotherReplicaHasBegunMeanwhileIsNotForgotten(t *testing.T) {
	g := &overtaken{Graph: newBench(t).graph}
	a := aviaryOn(t, g)
	a.fly()
	was := a.asset(a.last())
	a.end()
	const next = "tombstone-canary-next"
	g.asset, g.by = was.ID, func(ctx context.Context, tx dependency.Tx) error {
		return errors.Join(tx.RemoveNodes(ctx, []string{was.ID}), tx.Forget(ctx, []string{was.ID}, []string{was.Deletion}),
			tx.SaveSetting(ctx, "canary", `{"since": "2026-03-01T12:00:00Z", "asset": "`+next+`"}`),
			tx.SaveNodes(ctx, []dependency.Node{{ID: next, Kind: was.Kind, Owner: was.Owner, Generation: was.Generation, Status: dependency.Live,
				CreatedAt: a.now(), UpdatedAt: a.now()}}))
	}
	a.fly()
	if got := a.asset(next).Status; got != dependency.Deleting || len(a.planted) != 1 {
		t.Errorf("the other replica's canary is %s; planted here: %v", got, a.planted)
	}
}

func TestNobodyElseMakesCanaries(t *testing.T) {
	a := newAviary(t)
	for _, ctx := range []context.Context{a.ctx, a.as("tombstone-canary")} {
		_, _, err := a.PutAsset(ctx, "mine", dependency.Put{Kind: "tombstone-canary"})
		refused(t, err, problem.UnknownKind)
	}
}

func TestWithoutAScheduleThereIsNoCanary(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.RunCanary(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Backlog(t.Context()); err != nil || got.CanaryEvery != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOfSeveralReplicasOneLetsTheCanaryFly(t *testing.T) {
	a := newAviary(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended, planted := make(chan error, 3), make(chan struct{}, 3)
	a.whilePlanting = func() { planted <- struct{}{} }
	for range 3 {
		go func() { ended <- a.RunCanary(ctx) }()
	}
	<-planted
	cancel()
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if len(a.planted) != 1 {
		t.Errorf("planted: %v", a.planted)
	}
}
