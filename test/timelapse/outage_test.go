package timelapse

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/dependency"
)

var errRefused = errors.New("connection refused")

// H-04: a store that refuses for three seconds costs each command a few tries, and none is given up or put aside.
func TestABlipOfThreeSecondsCostsAFewTries(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		ids := w.fill(r, "mesh", "a", 20)
		w.fail(down("documents", errRefused))
		dids := w.delete(r, ids)
		pass(3 * time.Second)
		w.fail(nil)
		pass(10 * time.Second)
		w.allGone(r, dids)
		if n := w.handled(); n < 2*len(ids) || n > 5*len(ids) {
			w.Errorf("%d tries for %d assets, want 2 to 5 for each", n, len(ids))
		}
	})
}

// H-65, H-01: however long a store is away, everything goes on by itself when it is back; meanwhile each deletion says what
// it waits for and when it is tried again.
func TestAnOutageOfHalfAnHourHealsByItself(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		ids := w.fill(r, "mesh", "a", 40)
		w.fail(down("documents", errRefused))
		dids := w.delete(r, ids)
		rests := map[string]bool{} // deletions that were seen to wait for their next try
		tries := map[string]int{}  // as told
		for range 30 {
			pass(time.Minute)
			for _, id := range dids {
				x, err := r.Explain(w.ctx, id)
				if err != nil || !strings.Contains(x.LastError, "part note") || !strings.Contains(x.LastError, errRefused.Error()) || x.Since == nil {
					w.Fatalf("explain during the outage: %+v, %v", x, err)
				}
				if told := x.Causes[0].Attempts; told < tries[id] {
					w.Fatalf("%d attempts, and %d a minute before", told, tries[id])
				}
				tries[id] = x.Causes[0].Attempts
				if x.NextTry != nil {
					rests[id] = true
					if ahead := time.Until(*x.NextTry); ahead > 7*time.Minute {
						w.Errorf("the next try is %v ahead", ahead)
					}
				}
			}
		}
		if len(rests) != len(dids) {
			w.Errorf("%d of %d deletions told their next try", len(rests), len(dids))
		}
		if told, made := tries[dids[0]], w.handled()/len(ids); told < made-3 { // those of the last command may not be told yet
			w.Errorf("explain tells of %d attempts, there were %d", told, made)
		}
		if n := w.handled(); n > 45*len(ids) {
			w.Errorf("%d tries in half an hour for %d assets", n, len(ids))
		}
		w.fail(nil)
		pass(10 * time.Minute)
		w.allGone(r, dids)
	})
}

// H-12, H-01, H-39: one asset that always fails holds up nobody, is never given up, and goes when its cause does.
func TestOneThatAlwaysFailsHoldsUpNobodyAndIsNeverGivenUp(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		bad := w.delete(r, w.fillBehind(r, "scans"))
		good := w.delete(r, w.fill(r, "mesh", "good", 50))
		pass(30 * time.Second)
		if n := w.unfinished(r, good); n > 0 {
			w.Errorf("%d healthy ones wait for the one that fails", n)
		}
		pass(3 * time.Hour)
		d, err := r.Deletion(w.ctx, bad[0], "")
		if err != nil || d.Status != dependency.Deleting || !d.Stalled || d.Steps[0].LastError == "" {
			w.Fatalf("after three hours: %+v, %v", d, err)
		}
		w.fail(nil)
		pass(10 * time.Minute)
		w.allGone(r, append(good, bad...))
	})
}

// fillBehind makes one asset in a bucket that fails.
func (w *world) fillBehind(r *replica, bucket string) []string {
	w.Helper()
	ids := w.fill(r, "scan", "bad", 1)
	w.fail(func(c memory.Call) error {
		if c.Bucket == bucket {
			return errRefused
		}
		return nil
	})
	return ids
}

// H-58: a store that refuses to delete keeps the asset a tombstone with its reason; 200 that wait so cost the healthy ones
// nothing; once the right is granted, retry ends them.
func TestARefusingBucketBlocksItsOwnAndRetryEndsThem(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		waiting := w.fill(r, "scan", "s", 200)
		w.blobs.Block("scans", &asset.Blocked{Reason: asset.ReasonAccessDenied, Detail: "scans"})
		blocked := w.delete(r, waiting)
		healthy := w.delete(r, w.fill(r, "mesh", "m", 100))
		pass(5 * time.Second)
		if n := w.unfinished(r, healthy); n > 0 {
			w.Errorf("%d healthy ones are not done beside the blocked ones", n)
		}
		for _, id := range blocked {
			d, err := r.Deletion(w.ctx, id, "")
			if err != nil || d.Status != dependency.Deleting || d.Blocked == nil || d.Blocked.Reason != "access-denied" {
				w.Fatalf("a blocked one: %+v, %v", d, err)
			}
		}
		before := w.handled()
		w.blobs.Block("scans", nil)
		driven, err := r.Retry(w.ctx, dependency.Drive{All: true})
		if err != nil || driven.Driven != len(blocked) {
			w.Errorf("retry drove %d, %v; want %d", driven.Driven, err, len(blocked))
		}
		pass(5 * time.Second)
		w.allGone(r, append(healthy, blocked...))
		if n := w.handled() - before; n != len(blocked) {
			w.Errorf("%d tries after the retry, want one each for %d", n, len(blocked))
		}
	})
}

// H-02: a retry soon after a failure is really delivered, whatever the bus remembers; a second one finds nothing to drive.
func TestARetryIsDeliveredAtOnceAndASecondDrivesNothing(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		ids := w.fill(r, "mesh", "rp", 1)
		w.fail(down("documents", &asset.Blocked{Reason: asset.ReasonDatabaseMissing}))
		dids := w.delete(r, ids)
		pass(20 * time.Second)
		w.fail(nil)
		pass(10 * time.Second)
		for i, want := range []int{1, 0} {
			driven, err := r.Retry(w.ctx, dependency.Drive{Deletions: dids})
			if err != nil || driven.Driven != want {
				w.Errorf("retry %d drove %d, %v; want %d", i+1, driven.Driven, err, want)
			}
			pass(5 * time.Second)
			w.allGone(r, dids)
		}
		if n := w.handled(); n != 2 {
			w.Errorf("the command was handled %d times, want once before and once after", n)
		}
	})
}
