package graphtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// testDoors lets rights and tombstones meet: whatever is given out before the tombstone counts, and nothing is after it.
func testDoors(t *testing.T, g dependency.Graph) {
	t.Run("a grant and a deletion: either the deletion waits for the upload, or there is no grant", func(t *testing.T) { testGrantAgainstDelete(t, g) })
	t.Run("a change under a lease and a deletion: either it came before, or the lease is lost", func(t *testing.T) { testRenewAgainstDelete(t, g) })
	t.Run("of several workers one has the lease", func(t *testing.T) { testLeaseContest(t, g) })
}

func (r *rules) createFile(id string) {
	r.t.Helper()
	r.must(func(ctx context.Context) error {
		_, _, err := r.PutAsset(ctx, id, dependency.Put{Kind: "file", Attributes: map[string]any{"state": "new"}})
		return err
	})
}

func (r *rules) remove(id string) (d dependency.Deletion) {
	err := r.call(func(ctx context.Context) (err error) {
		d, err = r.Delete(ctx, id, dependency.DeleteRequest{})
		return err
	})
	if err != nil {
		r.t.Error(err)
	}
	return d
}

func testGrantAgainstDelete(t *testing.T, g dependency.Graph) {
	r, granted := newRules(t, g), 0
	total := rounds(200)
	for i := range total {
		id := fmt.Sprintf("granted-%d", i)
		r.createFile(id)
		var right events.Granted
		var refusal error
		var d dependency.Deletion
		grant := func() {
			refusal = r.call(func(ctx context.Context) (err error) {
				right, err = r.Grant(ctx, events.GrantRequest{Asset: id, Part: "payload", Name: "x", Owner: "acme", TTL: time.Minute})
				return err
			})
		}
		remove := func() { d = r.remove(id) }
		if i%2 == 0 {
			together(grant, remove)
		} else {
			together(remove, grant)
		}
		switch {
		case refusal == nil:
			granted++
			if want := right.Until.Add(5 * time.Minute); !d.DueAt.Equal(want) || d.Status != dependency.Scheduled {
				t.Fatalf("round %d: an upload until %s, but the deletion is %s and due at %s, want %s", i, right.Until, d.Status, d.DueAt, want)
			}
		case errors.Is(refusal, problem.Gone):
			if !d.DueAt.Equal(d.RequestedAt) {
				t.Fatalf("round %d: no grant, but the deletion waits until %s", i, d.DueAt)
			}
		default:
			t.Fatalf("round %d: %v", i, refusal)
		}
	}
	t.Logf("%d rounds, %d granted", total, granted)
}

func testRenewAgainstDelete(t *testing.T, g dependency.Graph) {
	r, renewed := newRules(t, g), 0
	total := rounds(200)
	for i := range total {
		id := fmt.Sprintf("leased-%d", i)
		r.createFile(id)
		lease := r.mustLease(id)
		var refusal error
		renew := func() {
			refusal = r.call(func(ctx context.Context) error {
				_, err := r.Renew(ctx, events.RenewRequest{Asset: id, Token: lease.Token, Owner: "acme", Attributes: map[string]any{"state": "done"}})
				return err
			})
		}
		remove := func() { r.remove(id) }
		if i%2 == 0 {
			together(renew, remove)
		} else {
			together(remove, renew)
		}
		var a dependency.Asset
		r.must(func(ctx context.Context) (err error) {
			a, err = r.Asset(ctx, id)
			return err
		})
		want := "new"
		switch {
		case refusal == nil:
			renewed, want = renewed+1, "done"
		case !errors.Is(refusal, problem.LeaseLost):
			t.Fatalf("round %d: %v", i, refusal)
		}
		if a.Attributes["state"] != want || a.Status != dependency.Deleting {
			t.Fatalf("round %d: %v under the lease, and the asset is %s with the state %v, want %q", i, refusal, a.Status, a.Attributes["state"], want)
		}
	}
	t.Logf("%d rounds, %d changed", total, renewed)
}

func (r *rules) mustLease(id string) (l events.Leased) {
	r.t.Helper()
	r.must(func(ctx context.Context) (err error) {
		l, err = r.Lease(ctx, events.LeaseRequest{Asset: id, Owner: "acme", TTL: time.Minute})
		return err
	})
	return l
}

func testLeaseContest(t *testing.T, g dependency.Graph) {
	const workers = 4
	r := newRules(t, g)
	for i := range rounds(60) {
		id := fmt.Sprintf("contested-%d", i)
		r.createFile(id)
		var calls []func()
		refusals := make([]error, workers)
		for w := range workers {
			calls = append(calls, func() {
				refusals[w] = r.call(func(ctx context.Context) error {
					_, err := r.Lease(ctx, events.LeaseRequest{Asset: id, Owner: "acme", TTL: time.Minute})
					return err
				})
			})
		}
		together(calls...)
		winners := 0
		for _, refusal := range refusals {
			switch {
			case refusal == nil:
				winners++
			case !errors.Is(refusal, problem.Leased):
				t.Fatalf("round %d: %v", i, refusal)
			}
		}
		if winners != 1 {
			t.Fatalf("round %d: %d workers have the lease", i, winners)
		}
	}
}
