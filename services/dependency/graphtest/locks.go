package graphtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testLocks(t *testing.T, g dependency.Graph) {
	t.Run("locks given in opposite orders do not stop each other", func(t *testing.T) {
		testLockOrder(t, g, func(ctx context.Context, tx dependency.Tx, ids []string) error {
			return tx.Lock(ctx, dependency.Locks{Assets: ids})
		})
	})
	t.Run("locks taken in opposite orders are sorted out by trying again", func(t *testing.T) {
		testLockOrder(t, g, func(ctx context.Context, tx dependency.Tx, ids []string) error {
			for _, id := range ids {
				if err := tx.Lock(ctx, dependency.Locks{Assets: []string{id}}); err != nil {
					return err
				}
			}
			return nil
		})
	})
	t.Run("assets, deletions and owners are locked side by side", func(t *testing.T) { testLockSorts(t, g) })
	t.Run("what does not exist can be locked", func(t *testing.T) {
		update(t, g, func(ctx context.Context, tx dependency.Tx) error {
			return tx.Lock(ctx, dependency.Locks{Assets: []string{"absent", "absent"}, Deletions: []string{newID()}, Owners: []string{"absent"}})
		})
		same(t, 0, len(listNodes(t, g, dependency.NodeFilter{Owner: "absent"})))
	})
	t.Run("a lock that is not given ends with the context", func(t *testing.T) { testLockTimeout(t, g) })
}

// testLockOrder has transactions add to two nodes that they lock in either order. A run that was given up must leave
// nothing behind: neither node nor counter may count it.
func testLockOrder(t *testing.T, g dependency.Graph, lock func(context.Context, dependency.Tx, []string) error) {
	ids := []string{"order-a", "order-b", "order-\U00010348", "order-\uffff"}
	owner := newID()
	var fresh []any
	for _, id := range ids {
		fresh = append(fresh, node(id, owner))
	}
	save(t, g, fresh...)
	const lanes = 4
	each := rounds(150)
	var calls []func()
	for lane := range lanes {
		order := slices.Clone(ids)
		if lane%2 == 1 {
			slices.Reverse(order)
		}
		add := func(ctx context.Context, tx dependency.Tx) error {
			if err := tx.AddUsage(ctx, map[string]dependency.Usage{owner + order[0]: {Assets: 1}}); err != nil {
				return err
			}
			if err := lock(ctx, tx, order); err != nil {
				return err
			}
			return addOne(ctx, tx, ids)
		}
		calls = append(calls, func() { repeat(t, g, each, add) })
	}
	together(calls...)
	total := int64(lanes * each)
	for id, n := range read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
		return tx.Nodes(ctx, ids)
	}) {
		if n.Bytes != total {
			t.Errorf("%s was counted %d times, want %d", id, n.Bytes, total)
		}
	}
	first, last := owner+ids[0], owner+ids[len(ids)-1]
	same(t, map[string]dependency.Usage{first: {Assets: total / 2}, last: {Assets: total / 2}}, usage(t, g, first, last))
}

// repeat runs fn in so many transactions, one after the other, until one fails.
func repeat(t *testing.T, g dependency.Graph, times int, fn func(context.Context, dependency.Tx) error) {
	for range times {
		err := within(t, func(ctx context.Context) error {
			return g.Update(ctx, func(tx dependency.Tx) error { return fn(ctx, tx) })
		})
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// addOne reads the nodes and saves each with one byte more.
func addOne(ctx context.Context, tx dependency.Tx, ids []string) error {
	found, err := tx.Nodes(ctx, ids)
	if err != nil {
		return err
	}
	var changed []dependency.Node
	for _, id := range ids {
		n := found[id]
		n.Bytes++
		changed = append(changed, n)
	}
	return tx.SaveNodes(ctx, changed)
}

// testLockSorts has transactions that share an asset, an owner or a deletion, and read before they write.
func testLockSorts(t *testing.T, g dependency.Graph) {
	d := deletion("sorts-0", "sorts", dependency.Deleting)
	assets := nodes("sorts", "sorts", 3)
	save(t, g, append(anys(assets), d)...)
	const lanes = 4
	each := rounds(100)
	var calls []func()
	for lane := range lanes {
		mine := []string{assets[lane%3].ID, assets[(lane+1)%3].ID}
		add := func(ctx context.Context, tx dependency.Tx) error {
			if err := tx.Lock(ctx, dependency.Locks{Owners: []string{"sorts"}, Deletions: []string{d.ID}, Assets: mine}); err != nil {
				return err
			}
			found, err := tx.Deletions(ctx, []string{d.ID})
			if err != nil {
				return err
			}
			changed := found[d.ID]
			changed.Done++
			if err := addOne(ctx, tx, mine); err != nil {
				return err
			}
			if err := tx.SaveDeletions(ctx, []dependency.DeletionRecord{changed}); err != nil {
				return err
			}
			return tx.AddUsage(ctx, map[string]dependency.Usage{"sorts": {Assets: 1}})
		}
		calls = append(calls, func() { repeat(t, g, each, add) })
	}
	together(calls...)
	got := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.DeletionRecord, error) {
		return tx.Deletions(ctx, []string{d.ID})
	})
	same(t, lanes*each, got[d.ID].Done)
	same(t, int64(lanes*each), usage(t, g, "sorts")["sorts"].Assets)
}

// testLockTimeout asks for a lock that another transaction holds until the asker's context has ended.
func testLockTimeout(t *testing.T, g dependency.Graph) {
	id := "held"
	save(t, g, node(id, "held"))
	held, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	holder := bounded(t)
	go func() {
		first := true
		done <- g.Update(holder, func(tx dependency.Tx) error {
			if err := tx.Lock(holder, dependency.Locks{Assets: []string{id}}); err != nil {
				return err
			}
			if first {
				first = false
				close(held)
				<-release
			}
			return addOne(holder, tx, []string{id})
		})
	}()
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	asked := make(chan error, 1)
	go func() {
		asked <- g.Update(ctx, func(tx dependency.Tx) error {
			if err := tx.Lock(ctx, dependency.Locks{Assets: []string{id}}); err != nil {
				return err
			}
			return addOne(ctx, tx, []string{id})
		})
	}()
	select {
	case err := <-asked:
		if !ended(err) {
			t.Errorf("got %v", err)
		}
	case <-time.After(patience):
		t.Error("the call went on long after its context ended")
	}
	close(release)
	if err := <-done; err != nil {
		t.Errorf("the holder: %v", err)
	}
	update(t, g, func(ctx context.Context, tx dependency.Tx) error { return addOne(ctx, tx, []string{id}) })
	got := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
		return tx.Nodes(ctx, []string{id})
	})
	same(t, int64(2), got[id].Bytes)
}
