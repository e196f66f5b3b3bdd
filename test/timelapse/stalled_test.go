package timelapse

import (
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// told counts the entries of a type in the trail of an asset, and in the feed.
func (w *world) told(r *replica, asset, kind string) (trail, feed int) {
	w.Helper()
	p, err := r.Audit(w.ctx, asset, "")
	if err != nil {
		w.Fatal(err)
	}
	for _, item := range p.Items {
		if item.Type == kind {
			trail++
		}
	}
	for _, m := range w.bus.Messages(events.Names{}.Events().Name) {
		envelope, data, err := events.DecodeEvent(m.Data)
		if err != nil {
			w.Fatal(err)
		}
		if envelope.Type == kind && data.Asset == asset {
			feed++
		}
	}
	return trail, feed
}

func TestThatADeletionIsStalledIsToldOnceByAnyNumberOfReplicas(t *testing.T) {
	inTime(t, func(w *world, first *replica) {
		second, third := w.start(), w.start()
		late := w.fill(first, "mesh", "late", 5)
		w.delete(first, w.fill(first, "mesh", "swift", 1))
		pass(time.Minute)
		w.fail(down("documents", errRefused))
		dids := w.delete(second, late)
		pass(59 * time.Minute)
		for _, id := range late {
			if trail, feed := w.told(first, id, events.TypeDeletionStalled); trail != 0 || feed != 0 {
				w.Errorf("%s is called stalled before its time: %d, %d", id, trail, feed)
			}
		}
		pass(3 * time.Minute)
		second.stop()
		w.start()
		pass(3 * time.Hour)
		for _, id := range append(late, "swift-0") {
			want := 1
			if id == "swift-0" {
				want = 0
			}
			if trail, feed := w.told(third, id, events.TypeDeletionStalled); trail != want || feed != want {
				w.Errorf("%s: %d in the trail, %d in the feed, want %d", id, trail, feed, want)
			}
		}
		w.fail(nil)
		if _, err := first.Retry(w.ctx, dependency.Drive{All: true}); err != nil {
			w.Fatal(err)
		}
		pass(time.Minute)
		w.allGone(first, dids)
	})
}
