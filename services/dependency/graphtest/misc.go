package graphtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testMisc(t *testing.T, g dependency.Graph) {
	t.Run("usage is the sum of what was added", func(t *testing.T) { testUsage(t, g) })
	t.Run("keys are remembered for a subject", func(t *testing.T) { testKeys(t, g) })
	t.Run("a place has one holder", func(t *testing.T) { testPlaces(t, g) })
	t.Run("what is forgotten leaves no trace, and all else stays", func(t *testing.T) { testForget(t, g) })
	t.Run("settings are kept", func(t *testing.T) { testSettings(t, g) })
}

func usage(t *testing.T, g dependency.Graph, owners ...string) map[string]dependency.Usage {
	t.Helper()
	return read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Usage, error) {
		return tx.Usage(ctx, owners)
	})
}

func testUsage(t *testing.T, g dependency.Graph) {
	const large = 9_007_199_254_740_993 // not a float64
	want := map[string]dependency.Usage{}
	for _, owner := range oddIDs {
		want[owner] = dependency.Usage{Assets: 2, Bytes: large, Pending: 5}
	}
	add := func(u dependency.Usage) {
		t.Helper()
		deltas := map[string]dependency.Usage{}
		for _, owner := range oddIDs {
			deltas[owner] = u
		}
		update(t, g, func(ctx context.Context, tx dependency.Tx) error { return tx.AddUsage(ctx, deltas) })
	}
	add(dependency.Usage{Assets: 3, Bytes: large - 10, Pending: -5})
	add(dependency.Usage{Assets: -1, Bytes: 10, Pending: 10})
	same(t, want, usage(t, g, append([]string{"absent"}, oddIDs...)...))
	var own map[string]dependency.Usage
	update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
		for range 2 {
			if err := tx.AddUsage(ctx, map[string]dependency.Usage{"plain": {Assets: -1, Bytes: 1, Pending: 1}}); err != nil {
				return err
			}
		}
		own, err = tx.Usage(ctx, []string{"plain"})
		return err
	})
	same(t, map[string]dependency.Usage{"plain": {Assets: 0, Bytes: large + 2, Pending: 7}}, own)
}

func testKeys(t *testing.T, g dependency.Graph) {
	var all, ask, want []dependency.Key
	for _, id := range oddIDs {
		k := dependency.Key{Subject: id, Key: strings.ToUpper(id) + "!", Request: newID(), Deletion: newID()}
		all = append(all, k)
		stranger := dependency.Key{Subject: id + "?", Key: k.Key}
		ask = append(ask, stranger, dependency.Key{Subject: k.Subject, Key: k.Key})
		want = append(want, stranger, k)
	}
	var own []dependency.Key
	update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
		if err := tx.SaveKeys(ctx, all); err != nil {
			return err
		}
		own, err = tx.Keys(ctx, ask)
		return err
	})
	same(t, want, own)
	got := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Key, error) { return tx.Keys(ctx, ask) })
	same(t, want, got)
}

func places(t *testing.T, g dependency.Graph, wanted ...string) map[string]string {
	t.Helper()
	return read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]string, error) { return tx.Places(ctx, wanted) })
}

func testPlaces(t *testing.T, g dependency.Graph) {
	want := map[string]string{}
	var wanted []string
	for _, id := range oddIDs {
		for _, place := range []string{"objects/bucket/" + id, strings.Repeat(id, 4)} {
			want[place] = id
			wanted = append(wanted, place)
		}
	}
	save(t, g, anys(oddNodes())...)
	var own map[string]string
	update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
		if err := tx.SavePlaces(ctx, want); err != nil {
			return err
		}
		own, err = tx.Places(ctx, append(wanted, "absent"))
		return err
	})
	same(t, want, own)
	update(t, g, func(ctx context.Context, tx dependency.Tx) error { return tx.SavePlaces(ctx, want) }) // again for the same holders

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // an adapter may try again for a while
	defer cancel()
	_ = g.Update(ctx, func(tx dependency.Tx) error { return tx.SavePlaces(ctx, map[string]string{wanted[0]: "null"}) })
	same(t, want, places(t, g, append(wanted, "absent")...))

	released := want[wanted[0]]
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		return tx.ReleasePlaces(ctx, []string{released, "absent"})
	})
	for place, holder := range want {
		if holder == released {
			delete(want, place)
		}
	}
	same(t, want, places(t, g, wanted...))
	want[wanted[0]] = "null"
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		return tx.SavePlaces(ctx, map[string]string{wanted[0]: "null"})
	})
	same(t, want, places(t, g, wanted...))
}

func testSettings(t *testing.T, g dependency.Graph) {
	setting := func(name string) string {
		t.Helper()
		return read(t, g, func(ctx context.Context, tx dependency.Tx) (string, error) { return tx.Setting(ctx, name) })
	}
	same(t, "", setting("pause"))
	for _, value := range []string{"on", strings.Repeat("long \"value\"\n🪦", 10_000), "", "off"} {
		var own string
		update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
			if err := tx.SaveSetting(ctx, "pause", value); err != nil {
				return err
			}
			own, err = tx.Setting(ctx, "pause")
			return err
		})
		same(t, value, own)
		same(t, value, setting("pause"))
	}
	same(t, "", setting("PAUSE"))
}

func testForget(t *testing.T, g dependency.Graph) {
	var records []any
	stays, goes := deletion("stays", "forgetful", dependency.Deleted), map[string]dependency.DeletionRecord{}
	for _, asset := range oddIDs {
		d := deletion(asset, "forgetful", dependency.Deleted)
		goes[asset] = d
		records = append(records, d, erasure(d.ID, asset, 0), erasure(d.ID, "other", 1), entry("forgotten "+asset, 1), entry("forgotten "+asset, 2))
	}
	save(t, g, append(records, stays, erasure(stays.ID, "stays", 0), entry("forgotten-not", 1))...)
	assets, deletions := []string{"never-was"}, []string{newID()}
	for asset, d := range goes {
		assets, deletions = append(assets, "forgotten "+asset), append(deletions, d.ID)
	}
	for range 2 { // again
		update(t, g, func(ctx context.Context, tx dependency.Tx) error { return tx.Forget(ctx, assets, deletions) })
	}
	for asset, d := range goes {
		same(t, 0, len(trail(t, g, "forgotten "+asset)))
		same(t, 0, len(erasedAssets(t, g, d.ID)))
	}
	found := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.DeletionRecord, error) {
		return tx.Deletions(ctx, append(deletions, stays.ID))
	})
	same(t, map[string]dependency.DeletionRecord{stays.ID: stays}, found)
	same(t, []string{"stays"}, erasedAssets(t, g, stays.ID))
	same(t, 1, len(trail(t, g, "forgotten-not")))
}
