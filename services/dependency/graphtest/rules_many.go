package graphtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// meeting is how many deletions meet the claims at one moment: their cancels share no transaction with them, and a claim
// takes many at once.
const meeting = 50

// testCancelsAgainstClaims is testCancelAgainstClaim with thousands of deletions of one asset each.
func testCancelsAgainstClaims(t *testing.T, g dependency.Graph) {
	r, cancelled, total := newRules(t, g), 0, 0
	for round := range rounds(40) {
		deletions := r.scheduleMany(round)
		later := r.clock.Load().Add(2 * time.Hour)
		r.clock.Store(&later)
		refusals := make([]error, len(deletions))
		begun := map[string]bool{}
		calls := []func(){func() { begun = r.claimAll() }}
		for i, d := range deletions {
			calls = append(calls, func() {
				refusals[i] = r.call(func(ctx context.Context) error { _, err := r.Cancel(ctx, d.ID); return err })
			})
		}
		together(calls...)
		for i, d := range deletions {
			var now dependency.Deletion
			var a dependency.Asset
			r.must(func(ctx context.Context) (err error) {
				if now, err = r.Deletion(ctx, d.ID, ""); err == nil {
					a, err = r.Asset(ctx, d.Root)
				}
				return err
			})
			total++
			switch won := refusals[i] == nil; {
			case won && (begun[d.ID] || now.Status != dependency.Cancelled || a.Status != dependency.Live):
				t.Fatalf("round %d: cancelled, but sent: %t, the deletion is %s and the asset %s", round, begun[d.ID], now.Status, a.Status)
			case won:
				cancelled++
			case !errors.Is(refusals[i], problem.TooLate):
				t.Fatalf("round %d: %v", round, refusals[i])
			case now.Status != dependency.Deleting || a.Status != dependency.Deleting:
				t.Fatalf("round %d: too late, but the deletion is %s and the asset %s", round, now.Status, a.Status)
			}
		}
		r.claimAll() // what was begun and not claimed yet, out of the way of the next round
	}
	t.Logf("%d deletions, %d cancelled", total, cancelled)
}

// scheduleMany makes scheduled deletions, all at once so that they share transactions.
func (r *rules) scheduleMany(round int) []dependency.Deletion {
	r.t.Helper()
	deletions := make([]dependency.Deletion, meeting)
	var calls []func()
	for i := range deletions {
		id := fmt.Sprintf("many-%d-%d", round, i)
		calls = append(calls, func() {
			err := r.call(func(ctx context.Context) (err error) {
				if _, _, err = r.PutAsset(ctx, id, dependency.Put{Kind: "slow"}); err == nil {
					deletions[i], err = r.Delete(ctx, id, dependency.DeleteRequest{})
				}
				return err
			})
			if err != nil {
				r.t.Error(err)
			}
		})
	}
	together(calls...)
	if r.t.Failed() {
		r.t.FailNow()
	}
	return deletions
}

// claimAll claims what is due, as a relay does, until nothing is left, and gives the deletions that it began.
func (r *rules) claimAll() map[string]bool {
	begun := map[string]bool{}
	for {
		n := 0
		err := r.call(func(ctx context.Context) error {
			flags, err := r.Commands().Claim(ctx, 20, 10_000*time.Hour) // some at a time: cancels come between
			for _, f := range flags {
				begun[strings.Split(f.Message.Subject, ".")[3]] = true // tombstone.command.erase.DELETION.HASH
			}
			n = len(flags)
			return err
		})
		if err != nil {
			r.t.Error(err)
			return begun
		}
		if n == 0 {
			return begun
		}
	}
}
