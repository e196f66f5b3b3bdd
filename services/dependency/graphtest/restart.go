package graphtest

import (
	"context"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Restart holds a graph to what outlives a process: that physical deletion is paused, and that it is not any more. open gives
// the same store each time, prepared; the graph before is closed then.
func Restart(t *testing.T, open func(t *testing.T) dependency.Graph) {
	var d dependency.Deletion
	process := func(test func(r *rules)) {
		g := open(t)
		test(newRules(t, g))
		if err := g.Close(teardown(t)); err != nil {
			t.Fatal(err)
		}
	}
	process(func(r *rules) {
		r.must(func(ctx context.Context) error { return r.Pause(ctx, "a backup is restored") })
		r.must(func(ctx context.Context) (err error) {
			if _, _, err = r.PutAsset(ctx, "waits", dependency.Put{Kind: "bare"}); err == nil {
				d, err = r.Delete(ctx, "waits", dependency.DeleteRequest{})
			}
			return err
		})
		r.standsStill(d)
	})
	process(func(r *rules) {
		r.standsStill(d)
		r.must(func(ctx context.Context) error { return r.PauseAs(ctx, "another start", "as it is set") }) // the first pause stays
		if p := r.pause(); p == nil || p.By != "olga" || p.Reason != "a backup is restored" || !p.At.Equal(*r.clock.Load()) {
			t.Errorf("after a restart the pause is %+v", p)
		}
		r.must(r.Resume)
	})
	process(func(r *rules) {
		if p := r.pause(); p != nil {
			t.Errorf("after the resuming and a restart the pause is %+v", p)
		}
		if flags := r.claim(); len(flags) != 1 {
			t.Errorf("after the resuming %d flags are claimed", len(flags))
		}
	})
}

func (r *rules) pause() (p *dependency.Pause) {
	r.t.Helper()
	r.must(func(ctx context.Context) error {
		o, err := r.Overview(ctx)
		p = o.Pause
		return err
	})
	return p
}

// standsStill checks that a deletion is accepted, and neither published nor allowed to erase anything.
func (r *rules) standsStill(d dependency.Deletion) {
	r.t.Helper()
	if flags := r.claim(); len(flags) != 0 || d.Status != dependency.Deleting {
		r.t.Errorf("while paused %d flags of a deletion, which is %s, are claimed", len(flags), d.Status)
	}
	r.must(func(ctx context.Context) error {
		a, err := r.Asset(ctx, d.Root)
		if err != nil {
			return err
		}
		answers, err := r.Current(ctx, []events.Question{{Deletion: d.ID, Asset: a.ID, Generation: a.Generation}})
		if err == nil && (answers[0].Erase || !answers[0].Paused) {
			r.t.Errorf("while paused the gate says %+v", answers[0])
		}
		return err
	})
}
