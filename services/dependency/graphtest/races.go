package graphtest

import (
	"context"
	"errors"
	"fmt"
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

// raceOnce lets both run at one moment and tells which of the two succeeded. By turns the one or the other has the
// smaller way to the start.
func raceOnce(t *testing.T, ctx context.Context, g dependency.Graph, turn int, from, to string) (linked, deleted bool) {
	var errLink, errDelete error
	racers := []func(){
		func() { errLink = linkIfLive(ctx, g, from, to) },
		func() { errDelete = deleteIfFree(ctx, g, to) },
	}
	together(racers[turn%2], racers[(turn+1)%2])
	err := g.View(ctx, func(tx dependency.Tx) error {
		found, err := tx.Nodes(ctx, []string{to})
		if err != nil {
			return err
		}
		links, err := tx.Outgoing(ctx, []string{from})
		linked, deleted = len(links) > 0, found[to].Status != dependency.Live
		return err
	})
	if err := errors.Join(errLink, errDelete, err); err != nil {
		t.Error(err)
	}
	return linked, deleted
}

// tally counts how races ended.
type tally struct {
	mu                           sync.Mutex
	linked, deleted, both, round int
}

func (c *tally) add(linked, deleted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round++
	switch {
	case linked == deleted: // both, or neither
		c.both++
	case linked:
		c.linked++
	default:
		c.deleted++
	}
}

func (c *tally) check(t *testing.T) {
	t.Helper()
	t.Logf("%d rounds: %d linked, %d deleted", c.round, c.linked, c.deleted)
	if c.both > 0 {
		t.Errorf("in %d of %d rounds both succeeded, or neither", c.both, c.round)
	}
}

func testLinkAgainstDelete(t *testing.T, g dependency.Graph) {
	const lanes = 4
	ctx, total := bounded(t), rounds(2000)
	sources, targets := nodes("race-a", "race", total), nodes("race-b", "race", total)
	save(t, g, append(anys(sources), anys(targets)...)...)
	var c tally
	var wait sync.WaitGroup
	for lane := range lanes {
		wait.Go(func() {
			for i := lane; i < total && !t.Failed(); i += lanes {
				c.add(raceOnce(t, ctx, g, i/lanes, sources[i].ID, targets[i].ID))
			}
		})
	}
	wait.Wait()
	c.check(t)
}

// testDenseLinkAgainstDelete gives each lane a target with 500 links from deleted assets, which is made live again after
// each round.
func testDenseLinkAgainstDelete(t *testing.T, g dependency.Graph) {
	const lanes, dense = 2, 500
	ctx, total := bounded(t), rounds(1500)
	var c tally
	var wait sync.WaitGroup
	gone := nodes("dense-gone", "race", dense)
	for i := range gone {
		gone[i] = tombstone(gone[i], dependency.Deleted, newID())
	}
	save(t, g, anys(gone)...)
	for lane := range lanes {
		from, to := node(fmt.Sprintf("dense-a-%d", lane), "race"), node(fmt.Sprintf("dense-b-%d", lane), "race")
		records := []any{from, to}
		for _, s := range gone {
			records = append(records, link(s.ID, needs, to.ID))
		}
		save(t, g, records...)
		wait.Go(func() {
			for i := lane; i < total && !t.Failed(); i += lanes {
				c.add(raceOnce(t, ctx, g, i/lanes, from.ID, to.ID))
				err := g.Update(ctx, func(tx dependency.Tx) error {
					return errors.Join(tx.RemoveLinks(ctx, []dependency.Link{link(from.ID, needs, to.ID)}), tx.SaveNodes(ctx, []dependency.Node{to}))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	c.check(t)
}

// contest runs claim for every contender at one moment, and gives the contenders that took it, and what each saw at
// last.
func contest(t *testing.T, g dependency.Graph, contenders []string, claim func(ctx context.Context, tx dependency.Tx, me string) (holder string, err error)) (saw []string) {
	ctx := bounded(t)
	saw = make([]string, len(contenders))
	var calls []func()
	for i, me := range contenders {
		calls = append(calls, func() {
			err := g.Update(ctx, func(tx dependency.Tx) (err error) {
				saw[i], err = claim(ctx, tx, me)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	together(calls...)
	return saw
}

// oneHolder checks that everybody saw the holder that the graph has now.
func oneHolder(t *testing.T, holder string, saw []string) {
	t.Helper()
	for _, s := range saw {
		if s != holder {
			t.Fatalf("the graph has %q, but the contenders saw %q", holder, saw)
		}
	}
}

func contenders(n int) (all []string) {
	for range n {
		all = append(all, newID())
	}
	return all
}

func testCreators(t *testing.T, g dependency.Graph) {
	for round := range rounds(100) {
		id := fmt.Sprintf("created-%d", round)
		saw := contest(t, g, contenders(6), func(ctx context.Context, tx dependency.Tx, me string) (string, error) {
			if err := tx.Lock(ctx, dependency.Locks{Assets: []string{id}}); err != nil {
				return "", err
			}
			found, err := tx.Nodes(ctx, []string{id})
			if n, ok := found[id]; ok || err != nil {
				return n.Generation, err
			}
			n := node(id, "created")
			n.Generation = me
			return me, tx.SaveNodes(ctx, []dependency.Node{n})
		})
		got := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
			return tx.Nodes(ctx, []string{id})
		})
		oneHolder(t, got[id].Generation, saw)
	}
}

func testPlaceRace(t *testing.T, g dependency.Graph) {
	assets := nodes("place-race", "race", 6)
	save(t, g, anys(assets)...)
	var ids []string
	for _, n := range assets {
		ids = append(ids, n.ID)
	}
	for round := range rounds(60) {
		place := fmt.Sprintf("place-%d", round)
		saw := contest(t, g, ids, func(ctx context.Context, tx dependency.Tx, me string) (string, error) {
			holders, err := tx.Places(ctx, []string{place})
			if holder, ok := holders[place]; ok || err != nil {
				return holder, err
			}
			return me, tx.SavePlaces(ctx, map[string]string{place: me})
		})
		oneHolder(t, places(t, g, place)[place], saw)
	}
}

func testKeyRace(t *testing.T, g dependency.Graph) {
	for round := range rounds(60) {
		key := dependency.Key{Subject: "ann", Key: fmt.Sprintf("key-%d", round)}
		saw := contest(t, g, contenders(6), func(ctx context.Context, tx dependency.Tx, me string) (string, error) {
			found, err := tx.Keys(ctx, []dependency.Key{key})
			if err != nil || found[0].Deletion != "" {
				return found[0].Deletion, err
			}
			mine := key
			mine.Request, mine.Deletion = "request", me
			return me, tx.SaveKeys(ctx, []dependency.Key{mine})
		})
		got := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Key, error) {
			return tx.Keys(ctx, []dependency.Key{key})
		})
		oneHolder(t, got[0].Deletion, saw)
	}
}

// testAppenders: the unique sequence decides between appenders, and the loser looks again.
func testAppenders(t *testing.T, g dependency.Graph) {
	const appenders = 3
	total := rounds(40)
	for range total {
		contest(t, g, contenders(appenders), func(ctx context.Context, tx dependency.Tx, me string) (string, error) {
			existing, err := tx.Trail(ctx, "appended", 0, 100_000)
			if err != nil {
				return "", err
			}
			return me, tx.Append(ctx, []dependency.Entry{entry("appended", int64(len(existing)+1))})
		})
	}
	all := trail(t, g, "appended")
	same(t, total*appenders, len(all))
	for i, e := range all {
		if e.Sequence != int64(i+1) {
			t.Fatalf("entry %d has sequence %d", i+1, e.Sequence)
		}
	}
}

func testCounters(t *testing.T, g dependency.Graph) {
	const adders = 8
	ctx, each := bounded(t), rounds(60)
	var calls []func()
	for i := range adders {
		calls = append(calls, func() {
			for range each {
				err := g.Update(ctx, func(tx dependency.Tx) error {
					deltas := map[string]dependency.Usage{"counted": {Assets: 1, Bytes: int64(i), Pending: -1}, fmt.Sprintf("counted-%d", i%3): {Assets: 1}}
					return tx.AddUsage(ctx, deltas)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	together(calls...)
	n := int64(each)
	same(t, map[string]dependency.Usage{
		"counted":   {Assets: adders * n, Bytes: 28 * n, Pending: -adders * n},
		"counted-0": {Assets: 3 * n}, "counted-1": {Assets: 3 * n}, "counted-2": {Assets: 2 * n},
	}, usage(t, g, "counted", "counted-0", "counted-1", "counted-2"))
}

func testQuota(t *testing.T, g dependency.Graph) {
	const limit = 2
	for round := range rounds(40) {
		owner := fmt.Sprintf("quota-%d", round)
		saw := contest(t, g, contenders(6), func(ctx context.Context, tx dependency.Tx, me string) (string, error) {
			if err := tx.Lock(ctx, dependency.Locks{Assets: []string{me}, Owners: []string{owner}}); err != nil {
				return "", err
			}
			used, err := tx.Usage(ctx, []string{owner})
			if err != nil || used[owner].Assets >= limit {
				return "", err
			}
			if err := tx.SaveNodes(ctx, []dependency.Node{node(me, owner)}); err != nil {
				return "", err
			}
			return me, tx.AddUsage(ctx, map[string]dependency.Usage{owner: {Assets: 1}})
		})
		created := 0
		for _, s := range saw {
			if s != "" {
				created++
			}
		}
		same(t, limit, created)
		same(t, map[string]dependency.Usage{owner: {Assets: limit}}, usage(t, g, owner))
		same(t, limit, len(listNodes(t, g, dependency.NodeFilter{Owner: owner})))
	}
}
