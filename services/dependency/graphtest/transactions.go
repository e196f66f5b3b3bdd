package graphtest

import (
	"context"
	"errors"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testTransactions(t *testing.T, g dependency.Graph) {
	t.Run("an error of fn comes back unchanged and nothing is kept", func(t *testing.T) {
		w := newTransition(t, g, "error")
		refused := errors.New("refused")
		err := g.Update(bounded(t), func(tx dependency.Tx) error {
			if err := w.entomb(t.Context(), tx); err != nil {
				return err
			}
			return refused
		})
		if err != refused { // the very same, not a wrap
			t.Errorf("got %v", err)
		}
		w.nothing(t, g)
	})
	t.Run("an error between tombstone and flag keeps neither", func(t *testing.T) {
		w := newTransition(t, g, "half")
		refused := errors.New("refused")
		err := g.Update(bounded(t), func(tx dependency.Tx) error {
			if err := write(t.Context(), tx, w.tombstone); err != nil {
				return err
			}
			return refused
		})
		if err != refused {
			t.Errorf("got %v", err)
		}
		w.nothing(t, g)
	})
	t.Run("a panic keeps nothing and goes on to the caller", func(t *testing.T) { testPanic(t, g) })
	t.Run("a context that ends between tombstone and flag keeps neither", func(t *testing.T) { testCancelBetween(t, g) })
	t.Run("a context that ends before the commit keeps both or neither", func(t *testing.T) { testCancelBeforeCommit(t, g) })
	t.Run("a call that fails ends the transaction, even if fn goes on", func(t *testing.T) { testFailedCall(t, g) })
	t.Run("a context that has ended gets no transaction", func(t *testing.T) { testEndedContext(t, g) })
	t.Run("nothing is seen before the commit, all of it after", func(t *testing.T) { testIsolation(t, g) })
	t.Run("a transaction reads what it wrote", func(t *testing.T) { testOwnWrites(t, g) })
	t.Run("an error of a view comes back unchanged", func(t *testing.T) {
		refused := errors.New("refused")
		if err := g.View(bounded(t), func(dependency.Tx) error { return refused }); err != refused {
			t.Errorf("got %v", err)
		}
	})
}

func testPanic(t *testing.T, g dependency.Graph) {
	w := newTransition(t, g, "panic")
	func() {
		defer func() {
			if got := recover(); got != "broken" {
				t.Errorf("recovered %v", got)
			}
		}()
		_ = g.Update(bounded(t), func(tx dependency.Tx) error {
			if err := write(t.Context(), tx, w.tombstone); err != nil {
				return err
			}
			panic("broken")
		})
	}()
	w.nothing(t, g)
}

func testCancelBetween(t *testing.T, g dependency.Graph) {
	w := newTransition(t, g, "cancel between")
	ctx, cancel := context.WithCancel(bounded(t))
	err := g.Update(ctx, func(tx dependency.Tx) error {
		if err := write(ctx, tx, w.tombstone); err != nil {
			return err
		}
		cancel()
		return write(ctx, tx, w.deletion, w.erasure, w.command)
	})
	if !ended(err) {
		t.Errorf("got %v", err)
	}
	w.nothing(t, g)
}

func testCancelBeforeCommit(t *testing.T, g dependency.Graph) {
	w := newTransition(t, g, "cancel before commit")
	ctx, cancel := context.WithCancel(bounded(t))
	err := g.Update(ctx, func(tx dependency.Tx) error {
		err := w.entomb(ctx, tx)
		cancel()
		return err
	})
	if err != nil && !ended(err) {
		t.Errorf("got %v", err)
	}
	switch got := read(t, g, w.look); {
	case got == sawAll:
	case got == sawNothing && err != nil:
	default:
		t.Errorf("error %v, but saw %+v", err, got)
	}
}

func testFailedCall(t *testing.T, g dependency.Graph) {
	w := newTransition(t, g, "failed call")
	err := g.Update(bounded(t), func(tx dependency.Tx) error {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := write(t.Context(), tx, w.tombstone); err != nil {
			return err
		}
		if _, err := tx.Nodes(over, []string{w.live.ID}); err == nil {
			t.Error("a call with a context that has ended succeeded")
		}
		_ = write(t.Context(), tx, w.deletion, w.erasure, w.command)
		return nil
	})
	if err == nil {
		t.Error("committed in spite of a failed call")
	}
	w.nothing(t, g)
}

func testEndedContext(t *testing.T, g dependency.Graph) {
	w := newTransition(t, g, "ended")
	ctx, cancel := context.WithCancel(bounded(t))
	cancel()
	if err := g.Update(ctx, func(tx dependency.Tx) error { return w.entomb(t.Context(), tx) }); !ended(err) {
		t.Errorf("update: %v", err)
	}
	if err := g.View(ctx, func(tx dependency.Tx) error {
		_, err := w.look(ctx, tx)
		return err
	}); !ended(err) {
		t.Errorf("view: %v", err)
	}
	if err := g.Ping(ctx); !ended(err) {
		t.Errorf("ping: %v", err)
	}
	w.nothing(t, g)
}

func testIsolation(t *testing.T, g dependency.Graph) {
	w := newTransition(t, g, "isolation")
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		if err := w.entomb(ctx, tx); err != nil {
			return err
		}
		w.sees(t, g, sawNothing) // a View beside it, which does not wait for it either
		return nil
	})
	w.sees(t, g, sawAll)
	for range rounds(200) { // every commit is seen by the next View
		n := node("isolation", newID())
		save(t, g, n)
		got := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
			return tx.Nodes(ctx, []string{n.ID})
		})
		same(t, n.Owner, got[n.ID].Owner)
	}
}

func testOwnWrites(t *testing.T, g dependency.Graph) {
	w := newTransition(t, g, "own writes")
	var got, removed seen
	update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
		if err = w.entomb(ctx, tx); err != nil {
			return err
		}
		if got, err = w.look(ctx, tx); err != nil {
			return err
		}
		if err = tx.RemoveCommands(ctx, []string{w.command.ID}); err != nil {
			return err
		}
		w.erasure.Done = true
		if err = write(ctx, tx, w.erasure, w.live); err != nil {
			return err
		}
		removed, err = w.look(ctx, tx)
		return err
	})
	same(t, true, got == sawAll)
	same(t, true, removed == seen{status: dependency.Live, deletion: true, erasure: true, usage: true, entries: 1})
}
