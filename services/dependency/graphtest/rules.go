package graphtest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const rulesPolicy = `
links:
  REFERENCES: {on_target_delete: cascade}
  DEPENDS_ON: {on_target_delete: restrict}
  USES: {on_target_delete: restrict, on_last_source: delete}
kinds:
  bare: {}
  slow: {grace: 1h}
  file: {parts: {payload: {blobs: {bucket: files, prefix: "{id}/{generation}/"}}}}
`

// rules is the service itself on a graph: what its transactions promise against each other holds only with the store's locks.
type rules struct {
	*dependency.Service
	t     *testing.T
	clock atomic.Pointer[time.Time]
}

func newRules(t *testing.T, g dependency.Graph) *rules {
	p, err := policy.Parse("policy.yaml", []byte(rulesPolicy))
	if err != nil {
		t.Fatal(err)
	}
	r := &rules{t: t}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r.clock.Store(&start)
	if r.Service, err = dependency.New(dependency.Config{Graph: g, Policy: p, Now: func() time.Time { return *r.clock.Load() }}); err != nil {
		t.Fatal(err)
	}
	return r
}

// call gives f an operator's time-limited context.
func (r *rules) call(f func(ctx context.Context) error) error {
	return within(r.t, func(ctx context.Context) error {
		return f(dependency.WithCaller(ctx, dependency.Caller{Subject: "olga", Owner: "acme", Operator: true}))
	})
}

func (r *rules) must(f func(ctx context.Context) error) {
	r.t.Helper()
	if err := r.call(f); err != nil {
		r.t.Fatal(err)
	}
}

// due makes a scheduled deletion of an asset and its child, whose time has come.
func (r *rules) due(root, child string) (d dependency.Deletion) {
	r.t.Helper()
	r.must(func(ctx context.Context) error {
		if _, _, err := r.PutAsset(ctx, root, dependency.Put{Kind: "slow"}); err != nil {
			return err
		}
		links := []dependency.LinkTo{{Type: "REFERENCES", To: root}}
		if _, _, err := r.PutAsset(ctx, child, dependency.Put{Kind: "bare", Links: &links}); err != nil {
			return err
		}
		var err error
		d, err = r.Delete(ctx, root, dependency.DeleteRequest{})
		return err
	})
	if d.Status != dependency.Scheduled || d.Assets.Total != 2 {
		r.t.Fatalf("deletion of %s: %+v", root, d)
	}
	later := r.clock.Load().Add(2 * time.Hour)
	r.clock.Store(&later)
	return d
}

// claim takes one flag that is due, as a relay does.
func (r *rules) claim() (flags []saga.Flag) {
	err := r.call(func(ctx context.Context) (err error) {
		flags, err = r.Commands().Claim(ctx, 1, 10_000*time.Hour) // not free again in any later round
		return err
	})
	if err != nil {
		r.t.Error(err)
	}
	return flags
}

// now reads the deletion and the status of both assets.
func (r *rules) now(d dependency.Deletion, root, child string) (status dependency.Status, assets [2]dependency.Status) {
	r.t.Helper()
	r.must(func(ctx context.Context) error {
		got, err := r.Deletion(ctx, d.ID, "")
		if err != nil {
			return err
		}
		status = got.Status
		for i, id := range []string{root, child} {
			a, err := r.Asset(ctx, id)
			if err != nil {
				return err
			}
			assets[i] = a.Status
		}
		return nil
	})
	return status, assets
}

func testRules(t *testing.T, g dependency.Graph) {
	t.Run("a cancel and the claim that begins a deletion: exactly one wins", func(t *testing.T) { testCancelAgainstClaim(t, g) })
	t.Run("of thousands of cancels and claims exactly one wins each time", func(t *testing.T) { testCancelsAgainstClaims(t, g) })
	t.Run("a hold and the claim that begins a deletion: exactly one wins", func(t *testing.T) { testHoldAgainstClaim(t, g) })
	t.Run("what several deletions at once would take goes once", func(t *testing.T) { testTogether(t, g) })
	t.Run("a chain of two thousand goes whole and comes back, and is not read link by link", func(t *testing.T) { testChains(t, g) })
	t.Run("links and children that are put while others go, come back and are made anew never hang", func(t *testing.T) { testMixed(t, g) })
	t.Run("many deletions around one dense node are all completed", func(t *testing.T) { testHub(t, g) })
}

func testCancelAgainstClaim(t *testing.T, g dependency.Graph) {
	r, cancelled := newRules(t, g), 0
	total := rounds(200)
	for i := range total {
		root, child := fmt.Sprintf("cancel-%d", i), fmt.Sprintf("cancel-child-%d", i)
		d := r.due(root, child)
		var refusal error
		var flags []saga.Flag
		cancel := func() {
			refusal = r.call(func(ctx context.Context) error { _, err := r.Cancel(ctx, d.ID); return err })
		}
		claim := func() { flags = r.claim() }
		if i%2 == 0 {
			together(cancel, claim)
		} else {
			together(claim, cancel)
		}
		status, assets := r.now(d, root, child)
		switch {
		case refusal == nil:
			cancelled++
			if len(flags) != 0 || status != dependency.Cancelled || assets != [2]dependency.Status{dependency.Live, dependency.Live} {
				t.Fatalf("round %d: cancelled, but %d flags were claimed, the deletion is %s and the assets are %v", i, len(flags), status, assets)
			}
		case errors.Is(refusal, problem.TooLate):
			if len(flags) != 1 || status != dependency.Deleting || assets != [2]dependency.Status{dependency.Deleting, dependency.Deleting} {
				t.Fatalf("round %d: too late, but %d flags were claimed, the deletion is %s and the assets are %v", i, len(flags), status, assets)
			}
			r.claim() // the child's, out of the way of the next round
		default:
			t.Fatalf("round %d: %v", i, refusal)
		}
	}
	t.Logf("%d rounds, %d cancelled", total, cancelled)
}

// testHoldAgainstClaim holds the child while the root's flag is claimed: the two have only the deletion in common.
func testHoldAgainstClaim(t *testing.T, g dependency.Graph) {
	r, held := newRules(t, g), 0
	total := rounds(100)
	for i := range total {
		root, child := fmt.Sprintf("hold-%d", i), fmt.Sprintf("hold-child-%d", i)
		d := r.due(root, child)
		var refusal error
		var flags []saga.Flag
		hold := func() {
			refusal = r.call(func(ctx context.Context) error { return r.Hold(ctx, child, "law") })
		}
		claim := func() { flags = r.claim() }
		if i%2 == 0 {
			together(hold, claim)
		} else {
			together(claim, hold)
		}
		status, _ := r.now(d, root, child)
		switch {
		case refusal == nil:
			held++
			if len(flags) != 0 || status != dependency.Scheduled {
				t.Fatalf("round %d: held, but %d flags were claimed and the deletion is %s", i, len(flags), status)
			}
		case errors.Is(refusal, problem.TooLate):
			if len(flags) != 1 || status != dependency.Deleting {
				t.Fatalf("round %d: too late, but %d flags were claimed and the deletion is %s", i, len(flags), status)
			}
			r.claim()
		default:
			t.Fatalf("round %d: %v", i, refusal)
		}
	}
	t.Logf("%d rounds, %d held", total, held)
}
