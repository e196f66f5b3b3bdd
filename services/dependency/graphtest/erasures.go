package graphtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testErasures(t *testing.T, g dependency.Graph) {
	t.Run("the erasures of a deletion come in order of their position", func(t *testing.T) { testErasurePages(t, g) })
	t.Run("due are those whose time has come, oldest first, those that are done apart", func(t *testing.T) { testDueErasures(t, g) })
}

func testErasurePages(t *testing.T, g dependency.Graph) {
	d, other := deletion("root", "e", dependency.Deleting), deletion("root", "e", dependency.Deleting)
	var want []dependency.Erasure
	for i, id := range oddIDs {
		want = append(want, erasure(d.ID, id, i))
	}
	shuffled := slices.Clone(want)
	slices.Reverse(shuffled)
	save(t, g, anys(oddNodes())...)
	single := erasure(other.ID, oddIDs[0], 0)
	save(t, g, d, other, single)
	save(t, g, anys(shuffled)...)
	var got []dependency.Erasure
	for after := -1; ; after = got[len(got)-1].Position {
		page := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Erasure, error) {
			return tx.ListErasures(ctx, d.ID, after, 10)
		})
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
		if len(page) > 10 || len(got) > len(want) {
			t.Fatalf("%d erasures of %d, %d of them on a page of 10", len(got), len(want), len(page))
		}
	}
	same(t, want, got)
	same(t, map[string][]dependency.Erasure{d.ID: want[:3], other.ID: {single}},
		read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string][]dependency.Erasure, error) {
			return tx.FirstErasures(ctx, []string{other.ID, d.ID, newID(), d.ID}, 3)
		}))
}

func testDueErasures(t *testing.T, g dependency.Graph) {
	finishAll(t, g)
	d := deletion("due", "due", dependency.Deleting)
	checks := map[string]time.Time{"due-past": at(2000), "due-oldest": at(1000), "due-now": at(3000), "due-later": at(3001), "due-done": at(1500), "due-never": {}}
	var assets, erasures []any
	for id, check := range checks {
		e := erasure(d.ID, id, len(erasures))
		e.CheckAt, e.Done = check, id == "due-done"
		assets, erasures = append(assets, node(id, "due")), append(erasures, e)
	}
	save(t, g, slices.Concat(assets, []any{d}, erasures)...)
	due := func(done bool, limit int) (ids []string) {
		t.Helper()
		for _, e := range read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Erasure, error) {
			return tx.DueErasures(ctx, at(3000), done, limit)
		}) {
			ids = append(ids, e.Asset)
		}
		return ids
	}
	same(t, []string{"due-oldest", "due-past", "due-now"}, due(false, 100))
	same(t, []string{"due-oldest", "due-past"}, due(false, 2))
	same(t, []string{"due-done"}, due(true, 100))

	done := erasure(d.ID, "due-oldest", 50)
	done.Done, done.CheckAt = true, at(2500)
	pushed := erasure(d.ID, "due-past", 51)
	pushed.CheckAt = at(4000)
	save(t, g, done, pushed)
	same(t, []string{"due-now"}, due(false, 2))
	same(t, []string{"due-done", "due-oldest"}, due(true, 2))
}

// finishAll marks every erasure done that is due by now.
func finishAll(t *testing.T, g dependency.Graph) {
	t.Helper()
	update(t, g, func(ctx context.Context, tx dependency.Tx) error {
		due, err := tx.DueErasures(ctx, at(1_000_000), false, 1000)
		for i := range due {
			due[i].Done, due[i].CheckAt = true, time.Time{}
		}
		if err != nil {
			return err
		}
		return tx.SaveErasures(ctx, due)
	})
}
