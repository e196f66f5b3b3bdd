package graphtest

import (
	"context"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testTrail(t *testing.T, g dependency.Graph) {
	t.Run("entries come back as they were appended, oldest first, in pages", func(t *testing.T) {
		for _, asset := range oddIDs {
			want := []dependency.Entry{{
				ID: newID(), Asset: asset, Sequence: 1, Type: "tombstone.part.erased.v1", Time: at(5), Deletion: newID(), Generation: newID(), By: "ann",
				Reason: "r 🪦", Part: "payload", Evidence: []byte("{\"part\": \"payload\",\n \"bytes\": 9007199254740993}"), Detail: "line\nline",
			}}
			for sequence := int64(2); sequence <= 7; sequence++ {
				want = append(want, dependency.Entry{ID: newID(), Asset: asset, Sequence: sequence, Time: at(4)})
			}
			save(t, g, want[3], want[0], want[1], want[6])
			save(t, g, want[2], want[5], want[4])
			same(t, want, trail(t, g, asset))
		}
		same(t, 0, len(trail(t, g, "absent")))
	})
	t.Run("a sequence is given once", func(t *testing.T) { testSequenceOnce(t, g) })
	t.Run("the last sequence of each trail is known", func(t *testing.T) { testLastSequences(t, g) })
	t.Run("unsent entries come oldest first until they are marked", func(t *testing.T) { testUnsent(t, g) })
	t.Run("entries of all assets come by id, in pages, and are counted by type", func(t *testing.T) { testEntries(t, g) })
	t.Run("what was sent is marked again in pages, from a time on", func(t *testing.T) { testMarkUnsent(t, g) })
}

// trail reads the whole trail of an asset in pages of three.
func trail(t *testing.T, g dependency.Graph, asset string) (all []dependency.Entry) {
	t.Helper()
	var after int64
	for {
		page := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Entry, error) {
			return tx.Trail(ctx, asset, after, 3)
		})
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		if len(page) > 3 || len(all) > 10_000 {
			t.Fatalf("%d entries, %d of them on a page of 3", len(all), len(page))
		}
		after = page[len(page)-1].Sequence
	}
}

func testSequenceOnce(t *testing.T, g dependency.Graph) {
	first := entry("once", 1)
	save(t, g, first, node("once", "once"))
	changed := node("once", "changed")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // an adapter may try again for a while
	defer cancel()
	err := g.Update(ctx, func(tx dependency.Tx) error { return write(ctx, tx, changed, entry("once", 2), entry("once", 1)) })
	if err == nil {
		t.Error("a second entry with the same sequence was taken")
	}
	same(t, []dependency.Entry{first}, trail(t, g, "once"))
	got := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
		return tx.Nodes(ctx, []string{"once"})
	})
	same(t, "once", got["once"].Owner)
}

func testUnsent(t *testing.T, g dependency.Graph) {
	markAll(t, g)
	for i, asset := range []string{"sent-b", "sent-a", "sent-c"} {
		for s := range 4 {
			e := entry(asset, int64(s+1))
			e.Time = at(100 + 10*s + i)
			save(t, g, e)
		}
	}
	want := []string{"sent-b", "sent-a", "sent-c", "sent-b", "sent-a"}
	unsent := func(before time.Time, limit int) (assets, ids []string) {
		t.Helper()
		for _, e := range read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Entry, error) {
			return tx.Unsent(ctx, before, limit)
		}) {
			assets, ids = append(assets, e.Asset), append(ids, e.ID)
		}
		return assets, ids
	}
	assets, ids := unsent(at(112), 100)
	same(t, want, assets[:min(5, len(assets))])
	same(t, 5, len(assets)) // not those of the very time
	assets, _ = unsent(at(112), 2)
	same(t, want[:2], assets)

	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		return tx.MarkSent(ctx, []string{ids[0], ids[2], newID(), ids[0]})
	})
	assets, _ = unsent(at(112), 100)
	same(t, []string{want[1], want[3], want[4]}, assets)
	same(t, 4, len(trail(t, g, "sent-b"))) // the trail keeps them
}

// markAll takes the mark off every entry there is.
func markAll(t *testing.T, g dependency.Graph) {
	t.Helper()
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		unsent, err := tx.Unsent(ctx, at(1_000_000), 100_000)
		if err != nil {
			return err
		}
		var ids []string
		for _, e := range unsent {
			ids = append(ids, e.ID)
		}
		return tx.MarkSent(ctx, ids)
	})
}

func testMarkUnsent(t *testing.T, g dependency.Graph) {
	var want []string
	for i := range 12 {
		e := entry("again", int64(i+1))
		e.Time = at(1000 + i)
		save(t, g, e)
		if i >= 5 {
			want = append(want, e.ID)
		}
	}
	for _, limit := range []int{3, 7, 100} {
		markAll(t, g)
		after := ""
		for calls := 0; calls == 0 || after != ""; calls++ {
			if calls > 100 {
				t.Fatal("the pages do not come to an end")
			}
			update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
				after, err = tx.MarkUnsent(ctx, at(1005), after, limit)
				return err
			})
		}
		var got []string
		for _, e := range read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Entry, error) {
			return tx.Unsent(ctx, at(1_000_000), 100)
		}) {
			got = append(got, e.ID)
		}
		same(t, want, got)
	}
}

func testEntries(t *testing.T, g dependency.Graph) {
	before, ids := newID(), []string(nil)
	for i := range 7 {
		e := entry([]string{"by-id-b", "by-id-a"}[i%2], int64(i/2+1))
		e.Type = []string{"x", "y", "x"}[i%3]
		ids = append(ids, e.ID)
		save(t, g, e)
	}
	var got []string
	for after := before; ; {
		page := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Entry, error) {
			return tx.Entries(ctx, after, 3)
		})
		for _, e := range page {
			got, after = append(got, e.ID), e.ID
		}
		if len(page) < 3 {
			break
		}
	}
	same(t, ids, got)
	count := func(from, to string, limit int) map[string]int {
		t.Helper()
		return read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]int, error) {
			return tx.CountEntries(ctx, from, to, limit)
		})
	}
	same(t, map[string]int{"x": 5, "y": 2}, count(ids[0], newID(), 100))
	same(t, map[string]int{"x": 2, "y": 1}, count(ids[1], ids[4], 100)) // the end is not in it
	same(t, map[string]int{"x": 1, "y": 1}, count(ids[0], newID(), 2))
	same(t, map[string]int{}, count(newID(), newID(), 100))
}
