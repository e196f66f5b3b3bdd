package graphtest

import (
	"context"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testLifecycle(t *testing.T, g dependency.Graph) {
	t.Run("it answers", func(t *testing.T) {
		if err := g.Ping(bounded(t)); err != nil {
			t.Error(err)
		}
	})
	t.Run("preparing again, also side by side, keeps everything", func(t *testing.T) {
		n := node("kept", "kept")
		save(t, g, n)
		prepare := func() {
			if err := g.Prepare(bounded(t)); err != nil {
				t.Error(err)
			}
		}
		prepare()
		together(prepare, prepare, prepare)
		nodeStore.roundTrip(t, g, "absent", n)
	})
	t.Run("closing waits for a transaction in hand", func(t *testing.T) {
		closed := make(chan error, 1)
		ctx := bounded(t)
		err := g.Update(ctx, func(tx dependency.Tx) error {
			closing := make(chan struct{})
			go func() {
				close(closing)
				closed <- g.Close(ctx)
			}()
			<-closing
			return tx.SaveNodes(ctx, []dependency.Node{node("in hand", "in hand")})
		})
		if err != nil {
			t.Errorf("update: %v", err)
		}
		if err := <-closed; err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Run("a closed graph refuses, and may be closed again", func(t *testing.T) {
		if err := g.Update(bounded(t), func(tx dependency.Tx) error { return nil }); err == nil {
			t.Error("an update of a closed graph succeeded")
		}
		view := func(tx dependency.Tx) error {
			_, err := tx.Nodes(context.WithoutCancel(t.Context()), []string{"in hand"})
			return err
		}
		if err := g.View(bounded(t), view); err == nil {
			t.Error("a view of a closed graph succeeded")
		}
		if err := g.Close(bounded(t)); err != nil {
			t.Errorf("close again: %v", err)
		}
	})
}
