package neo4j_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// A deadlock would be hidden by trying again, so the runs are counted.
// H-19.
func TestLocksAreTakenInOneOrderSoThatNobodyIsUndone(t *testing.T) {
	g := open(t, config(t))
	defer func() { _ = g.Close(t.Context()) }()
	ids := seed(t, g, 50)
	ctx := deadline(t)
	const lanes, rounds = 8, 50
	var runs atomic.Int64
	var wait sync.WaitGroup
	for lane := range lanes {
		order := slices.Clone(ids[lane:])
		if lane%2 == 1 {
			slices.Reverse(order)
		}
		wait.Go(func() {
			for range rounds {
				err := g.Update(ctx, func(tx dependency.Tx) error {
					runs.Add(1)
					return tx.Lock(ctx, dependency.Locks{Assets: order, Owners: []string{"b", "a"}[lane%2 : 2]})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if runs.Load() != lanes*rounds {
		t.Errorf("%d runs for %d transactions", runs.Load(), lanes*rounds)
	}
}
