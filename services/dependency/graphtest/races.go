package graphtest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testRaces(t *testing.T, g dependency.Graph) {
	t.Run("a link to an asset and its deletion never both succeed", func(t *testing.T) { testLinkAgainstDelete(t, g) })
	t.Run("nor on a dense node", func(t *testing.T) { testDenseLinkAgainstDelete(t, g) })
	t.Run("of several creators of one id one wins and the others see it", func(t *testing.T) { testCreators(t, g) })
	t.Run("of several holders of one place one wins and the others see it", func(t *testing.T) { testPlaceRace(t, g) })
	t.Run("of several requests with one key one wins and the others see it", func(t *testing.T) { testKeyRace(t, g) })
	t.Run("who writes a setting is alone with it until its end", func(t *testing.T) { testTurns(t, g) })
	t.Run("appenders without a lock number densely", func(t *testing.T) { testAppenders(t, g) })
	t.Run("counters add up", func(t *testing.T) { testCounters(t, g) })
	t.Run("the lock of an owner keeps a quota, also before its first asset", func(t *testing.T) { testQuota(t, g) })
}

// linkIfLive is what a link does: both ends locked, then the look at the target, then the write.
func linkIfLive(ctx context.Context, g dependency.Graph, from, to string) error {
	return g.Update(ctx, func(tx dependency.Tx) error {
		if err := tx.Lock(ctx, dependency.Locks{Assets: []string{from, to}}); err != nil {
			return err
		}
		found, err := tx.Nodes(ctx, []string{to})
		if err != nil || found[to].Status != dependency.Live {
			return err
		}
		return tx.SaveLinks(ctx, []dependency.Link{link(from, needs, to)})
	})
}

// deleteIfFree is what a deletion does: the asset locked, then the look at its dependants, then the write.
func deleteIfFree(ctx context.Context, g dependency.Graph, id string) error {
	return g.Update(ctx, func(tx dependency.Tx) error {
		if err := tx.Lock(ctx, dependency.Locks{Assets: []string{id}}); err != nil {
			return err
		}
		dependants, err := tx.Dependants(ctx, []string{id}, []string{needs}, 1)
		if err != nil || dependants[id].Total > 0 {
			return err
		}
		found, err := tx.Nodes(ctx, []string{id})
		if err != nil {
			return err
		}
		return tx.SaveNodes(ctx, []dependency.Node{tombstone(found[id], dependency.Deleting, newID())})
	})
}

// race lets both run at one moment. By turns the one or the other has the smaller way to the start.
func race(t *testing.T, g dependency.Graph, turn int, from, to string) {
	racers := []func() error{
		func() error {
			return within(t, func(ctx context.Context) error { return linkIfLive(ctx, g, from, to) })
		},
		func() error { return within(t, func(ctx context.Context) error { return deleteIfFree(ctx, g, to) }) },
	}
	var errs [2]error
	together(
		func() { errs[0] = racers[turn%2]() },
		func() { errs[1] = racers[(turn+1)%2]() })
	if err := errors.Join(errs[0], errs[1]); err != nil {
		t.Error(err)
	}
}

// tally counts how races ended.
type tally struct {
	mu                     sync.Mutex
	linked, deleted, wrong int
}

func (c *tally) add(linked, deleted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case linked == deleted: // both, or neither
		c.wrong++
	case linked:
		c.linked++
	default:
		c.deleted++
	}
}

func (c *tally) check(t *testing.T, total int) {
	t.Helper()
	t.Logf("%d rounds: %d linked, %d deleted", total, c.linked, c.deleted)
	if c.wrong > 0 || c.linked+c.deleted != total {
		t.Errorf("in %d of %d rounds both succeeded, or neither", c.wrong, total)
	}
}

// lanes runs fn for each round, some rounds side by side.
func lanes(t *testing.T, count, total int, fn func(lane, round int)) {
	var wait sync.WaitGroup
	for lane := range count {
		wait.Go(func() {
			for i := lane; i < total && !t.Failed(); i += count {
				fn(lane, i)
			}
		})
	}
	wait.Wait()
}

func testLinkAgainstDelete(t *testing.T, g dependency.Graph) {
	total := rounds(2000)
	sources, targets := nodes("race-a", "race", total), nodes("race-b", "race", total)
	save(t, g, append(anys(sources), anys(targets)...)...)
	lanes(t, 4, total, func(_, round int) { race(t, g, round/4, sources[round].ID, targets[round].ID) })

	linked := outgoing(t, g, idsOf(sources)...)
	after := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
		return tx.Nodes(ctx, idsOf(targets))
	})
	var c tally
	for i := range total {
		c.add(linked[link(sources[i].ID, needs, targets[i].ID)], after[targets[i].ID].Status != dependency.Live)
	}
	c.check(t, total)
}

// testDenseLinkAgainstDelete gives each lane a target with 500 links from deleted assets, which is made live again after
// each round.
func testDenseLinkAgainstDelete(t *testing.T, g dependency.Graph) {
	const count, dense = 2, 500
	gone := nodes("dense-gone", "race", dense)
	for i := range gone {
		gone[i] = tombstone(gone[i], dependency.Deleted, newID())
	}
	save(t, g, anys(gone)...)
	sources, targets := nodes("dense-a", "race", count), nodes("dense-b", "race", count)
	save(t, g, append(anys(sources), anys(targets)...)...)
	for _, target := range targets {
		var links []any
		for _, s := range gone {
			links = append(links, link(s.ID, needs, target.ID))
		}
		save(t, g, links...)
	}
	var c tally
	total := rounds(1500)
	lanes(t, count, total, func(lane, round int) {
		race(t, g, round/count, sources[lane].ID, targets[lane].ID)
		linked, deleted, err := undoRace(t, g, sources[lane], targets[lane])
		if err != nil {
			t.Error(err)
		}
		c.add(linked, deleted)
	})
	c.check(t, total)
}

// undoRace tells how a race ended and makes everything as it was before.
func undoRace(t *testing.T, g dependency.Graph, from, to dependency.Node) (linked, deleted bool, err error) {
	err = within(t, func(ctx context.Context) error {
		return g.Update(ctx, func(tx dependency.Tx) error {
			found, err := tx.Nodes(ctx, []string{to.ID})
			if err != nil {
				return err
			}
			links, err := tx.Outgoing(ctx, []string{from.ID})
			if err != nil {
				return err
			}
			linked, deleted = len(links) > 0, found[to.ID].Status != dependency.Live
			if err := tx.RemoveLinks(ctx, links); err != nil {
				return err
			}
			return tx.SaveNodes(ctx, []dependency.Node{to})
		})
	})
	return linked, deleted, err
}

func idsOf(all []dependency.Node) (ids []string) {
	for _, n := range all {
		ids = append(ids, n.ID)
	}
	return ids
}
