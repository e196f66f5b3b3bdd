package graphtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// contest runs claim for every contender at one moment, and gives the contenders that took it, and what each saw at
// last.
func contest(t *testing.T, g dependency.Graph, contenders []string, claim func(ctx context.Context, tx dependency.Tx, me string) (holder string, err error)) (saw []string) {
	saw = make([]string, len(contenders))
	var calls []func()
	for i, me := range contenders {
		calls = append(calls, func() {
			err := within(t, func(ctx context.Context) error {
				return g.Update(ctx, func(tx dependency.Tx) (err error) {
					saw[i], err = claim(ctx, tx, me)
					return err
				})
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
	for round := range rounds(60) {
		place := fmt.Sprintf("place-%d", round)
		saw := contest(t, g, idsOf(assets), func(ctx context.Context, tx dependency.Tx, me string) (string, error) {
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

// testTurns: who writes a setting is alone until the end of its transaction, so what it reads then stays.
func testTurns(t *testing.T, g dependency.Graph) {
	for round := range rounds(60) {
		turn := fmt.Sprintf("turn-%d", round)
		saw := contest(t, g, contenders(6), func(ctx context.Context, tx dependency.Tx, me string) (string, error) {
			if err := tx.SaveSetting(ctx, "turns", "-"); err != nil {
				return "", err
			}
			if holder, err := tx.Setting(ctx, turn); holder != "" || err != nil {
				return holder, err
			}
			return me, tx.SaveSetting(ctx, turn, me)
		})
		holder := read(t, g, func(ctx context.Context, tx dependency.Tx) (string, error) { return tx.Setting(ctx, turn) })
		oneHolder(t, holder, saw)
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
	each := rounds(60)
	var calls []func()
	for i := range adders {
		deltas := map[string]dependency.Usage{"counted": {Assets: 1, Bytes: int64(i), Pending: -1}, fmt.Sprintf("counted-%d", i%3): {Assets: 1}}
		calls = append(calls, func() {
			repeat(t, g, each, func(ctx context.Context, tx dependency.Tx) error { return tx.AddUsage(ctx, deltas) })
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
