package crash

import (
	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
)

// checkTrail is G9: dense, and each transition once, in its order.
func (w *world) checkTrail(g picture) {
	types := map[string]int{}
	for _, n := range g.Nodes {
		for i, e := range g.Trails[n.ID] {
			if e.Sequence != int64(i+1) || e.By != "olga" || e.Reason != "explored" || e.Time.IsZero() {
				w.violate("G9", "entry %d of %s: %+v", i+1, n.ID, e)
			}
			types[e.Deletion+" "+e.Type+" "+e.Asset+" "+e.Part]++
		}
		if n.Sequence != int64(len(g.Trails[n.ID])) {
			w.violate("G9", "%s has sequence %d and %d entries", n.ID, n.Sequence, len(g.Trails[n.ID]))
		}
	}
	want := map[string]int{}
	for _, d := range g.Deletions {
		want[d.ID+" "+events.TypeDeletionRequested+" "+d.Root+" "] = 1
		if w.cancelled[d.ID] {
			want[d.ID+" "+events.TypeDeletionCancelled+" "+d.Root+" "] = 1
		} else {
			want[d.ID+" "+events.TypeDeletionCompleted+" "+d.Root+" "] = 1
		}
	}
	for _, e := range g.Erasures {
		if w.cancelled[e.Deletion] {
			continue
		}
		want[e.Deletion+" "+events.TypeAssetErased+" "+e.Asset+" "] = 1
		for _, s := range e.Steps {
			want[e.Deletion+" "+events.TypePartErased+" "+e.Asset+" "+s.Part] = 1
		}
	}
	if diff := cmp.Diff(want, types); diff != "" {
		w.violate("G9", "entries of the trail (-want +got):\n%s", diff)
	}
}

// checkFeed is G9 for the feed: every entry at least once, and nothing else.
func (w *world) checkFeed(g picture) {
	type line struct {
		Sequence              int64
		Type, Asset, Deletion string
	}
	want, got := map[string]line{}, map[string]line{}
	for _, entries := range g.Trails {
		for _, e := range entries {
			want[e.ID] = line{e.Sequence, e.Type, e.Asset, e.Deletion}
		}
	}
	for _, m := range w.messages(w.names.Events()) {
		envelope, e, err := events.DecodeEvent(m.Data)
		if err != nil {
			w.violate("G9", "the feed holds what cannot be read: %v", err)
		}
		got[envelope.ID] = line{e.Sequence, envelope.Type, e.Asset, e.Deletion}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.violate("G9", "the feed (-trail +feed):\n%s", diff)
	}
}
