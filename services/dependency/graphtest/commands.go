package graphtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func testCommands(t *testing.T, g dependency.Graph) {
	t.Run("without flags there is nothing to count", func(t *testing.T) {
		count, oldest := countCommands(t, g, at(1_000_000))
		same(t, 0, count)
		same(t, time.Time{}, oldest)
	})
	all := flagFixture(t, g)
	t.Run("filters combine, oldest first", func(t *testing.T) { testCommandFilters(t, g, all) })
	t.Run("the count is of all, the oldest of those due", func(t *testing.T) {
		for _, now := range []time.Time{at(99), at(100), at(101), at(102)} {
			var oldest time.Time
			for _, c := range all {
				if !c.DueAt.After(now) && (oldest.IsZero() || c.Since.Before(oldest)) {
					oldest = c.Since
				}
			}
			count, got := countCommands(t, g, now)
			same(t, len(all), count)
			same(t, oldest, got)
		}
	})
	t.Run("removed flags are gone, unknown ones are fine", func(t *testing.T) {
		var left []dependency.Command
		update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
			if err := tx.RemoveCommands(ctx, []string{all[0].ID, newID(), all[3].ID, all[0].ID}); err != nil {
				return err
			}
			left, err = tx.Commands(ctx, dependency.CommandFilter{})
			return err
		})
		want := slices.DeleteFunc(slices.Clone(all), func(c dependency.Command) bool { return c.ID == all[0].ID || c.ID == all[3].ID })
		same(t, flagIDs(want), flagIDs(left))
	})
	t.Run("dropped flags are those of their deletions", func(t *testing.T) {
		var left []dependency.Command
		update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
			if err := tx.DropCommands(ctx, []string{all[1].Deletion, newID(), all[1].Deletion}); err != nil {
				return err
			}
			left, err = tx.Commands(ctx, dependency.CommandFilter{})
			return err
		})
		want := slices.DeleteFunc(slices.Clone(all), func(c dependency.Command) bool {
			return c.ID == all[0].ID || c.ID == all[3].ID || c.Deletion == all[1].Deletion
		})
		same(t, flagIDs(want), flagIDs(left))
	})
	t.Run("pages give every flag once while others come and go", func(t *testing.T) { testCommandPages(t, g) })
}

// flagFixture makes flags with every mix of due, claimed and old, several of one time, and gives them in order of
// (Since, ID).
func flagFixture(t *testing.T, g dependency.Graph) (all []dependency.Command) {
	for d := range 3 {
		record := deletion(fmt.Sprintf("flag-%d-0", d), "flags", dependency.Deleting)
		records := []any{record}
		for a := range 12 {
			id := fmt.Sprintf("flag-%d-%d", d, a)
			c := command(record.ID, id)
			c.DueAt, c.Since = at(100+a%3), at(10+(a*7+d)%5)
			if a/3%2 == 1 {
				c.ClaimedBy, c.ClaimedUntil = "replica", at(50+a/6)
			}
			save(t, g, node(id, "flags"))
			records, all = append(records, erasure(record.ID, id, a), c), append(all, c)
		}
		save(t, g, records...)
	}
	slices.SortFunc(all, compareFlags)
	return all
}

func compareFlags(a, b dependency.Command) int {
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
}

func flagFits(c dependency.Command, f dependency.CommandFilter) bool {
	return (f.IDs == nil || slices.Contains(f.IDs, c.ID)) &&
		(f.Erasures == nil || slices.Contains(f.Erasures, dependency.ErasureKey{Deletion: c.Deletion, Asset: c.Asset})) &&
		(f.Deletions == nil || slices.Contains(f.Deletions, c.Deletion)) &&
		(f.DueBy.IsZero() || !c.DueAt.After(f.DueBy)) &&
		(f.FreeAt.IsZero() || c.ClaimedUntil.Before(f.FreeAt)) &&
		(f.OlderThan.IsZero() || c.Since.Before(f.OlderThan)) &&
		(f.After == nil || compareFlags(c, *f.After) > 0)
}

func testCommandFilters(t *testing.T, g dependency.Graph, all []dependency.Command) {
	key := func(c dependency.Command) dependency.ErasureKey {
		return dependency.ErasureKey{Deletion: c.Deletion, Asset: c.Asset}
	}
	some := []string{all[4].ID, newID(), all[20].ID, all[7].ID}
	var keys []dependency.ErasureKey
	for _, i := range []int{2, 4, 9, 20, 30} {
		keys = append(keys, key(all[i]))
	}
	keys = append(keys, dependency.ErasureKey{Deletion: all[4].Deletion, Asset: "absent"})
	for _, ids := range [][]string{nil, some} {
		for _, erasures := range [][]dependency.ErasureKey{nil, keys} {
			for _, deletions := range [][]string{nil, {all[4].Deletion}, {all[4].Deletion, all[20].Deletion, newID()}} {
				for _, due := range []time.Time{{}, at(99), at(101)} {
					for _, free := range []time.Time{{}, at(50), at(51), at(52)} {
						for _, old := range []time.Time{{}, at(12)} {
							for _, after := range []*dependency.Command{nil, &all[5]} {
								checkFlags(t, g, all, dependency.CommandFilter{IDs: ids, Erasures: erasures, Deletions: deletions, DueBy: due, FreeAt: free, OlderThan: old, After: after})
							}
						}
					}
				}
			}
		}
	}
}

func checkFlags(t *testing.T, g dependency.Graph, all []dependency.Command, f dependency.CommandFilter) {
	t.Helper()
	var want []dependency.Command
	for _, c := range all {
		if flagFits(c, f) {
			want = append(want, c)
		}
	}
	got := listFlags(t, g, f)
	same(t, want, got) // Limit 0: all
	f.Limit = 2
	same(t, want[:min(2, len(want))], listFlags(t, g, f))
	if t.Failed() {
		t.Fatalf("with filter %+v", f)
	}
}

func testCommandPages(t *testing.T, g dependency.Graph) {
	all := listFlags(t, g, dependency.CommandFilter{})
	f := dependency.CommandFilter{Limit: 5}
	var got []string
	for {
		page := listFlags(t, g, f)
		if len(page) == 0 {
			break
		}
		got = append(got, flagIDs(page)...)
		if len(page) > f.Limit || len(got) > len(all) {
			t.Fatalf("%d flags of %d, %d of them on a page of %d", len(got), len(all), len(page), f.Limit)
		}
		f.After = &page[len(page)-1]
		// The last one seen goes, and one comes that is older than all.
		older := *f.After
		older.ID, older.Since = newID(), at(1)
		update(t, g, func(ctx context.Context, tx dependency.Tx) error { return tx.RemoveCommands(ctx, []string{f.After.ID}) })
		save(t, g, older)
	}
	same(t, flagIDs(all), got)
}

func listFlags(t *testing.T, g dependency.Graph, f dependency.CommandFilter) []dependency.Command {
	t.Helper()
	return read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Command, error) { return tx.Commands(ctx, f) })
}

func flagIDs(flags []dependency.Command) (ids []string) {
	for _, c := range flags {
		ids = append(ids, c.ID)
	}
	return ids
}

func countCommands(t *testing.T, g dependency.Graph, now time.Time) (count int, oldest time.Time) {
	t.Helper()
	oldest = read(t, g, func(ctx context.Context, tx dependency.Tx) (oldest time.Time, err error) {
		count, oldest, err = tx.CountCommands(ctx, now)
		return oldest, err
	})
	return count, oldest
}
