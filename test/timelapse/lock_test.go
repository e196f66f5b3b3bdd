package timelapse

import (
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// TestALockIsLookedAtEveryHourAndWhenItEnds keeps one object for two hours and five minutes.
//
// H-40: nobody need ask again when the lock ends.
func TestALockIsLookedAtEveryHourAndWhenItEnds(t *testing.T) {
	inTime(t, func(w *world, r *replica) {
		id := w.fill(r, "mesh", "ol", 1)[0]
		a, err := r.Asset(w.ctx, id)
		if err != nil {
			w.Fatal(err)
		}
		const lock = 2*time.Hour + 5*time.Minute
		began, key := time.Now(), "payload/"+id+"/"+a.Generation+"/one"
		w.blobs.Lock("assets", key, began.Add(lock))
		dids := w.delete(r, []string{id})
		pass(lock - time.Second)
		d, err := r.Deletion(w.ctx, dids[0], "")
		if err != nil || d.Blocked == nil || d.Blocked.Until == nil || !d.Blocked.Until.Equal(began.Add(lock)) || d.Status != dependency.Deleting {
			w.Fatalf("before the end: %+v, %v; want it blocked until %v", d, err, began.Add(lock))
		}
		if n := w.handled(); n < 2 || n > 3 {
			w.Errorf("the command was handled %d times in two hours, want once and after each hour", n)
		}
		w.blobs.Unlock("assets", key)
		pass(time.Minute + 5*time.Second) // R2 looks every minute
		w.allGone(r, dids)
	})
}
