package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// table is what records of one type are kept in.
type table[R any] struct {
	name    string
	columns []string // the primary key first
	key     int      // how many of them are the primary key
	bind    func(*R) []any
}

// save inserts whole records, or replaces them.
func (tb table[R]) save(ctx context.Context, t *tx, records []R) error {
	var sets []string
	for _, c := range tb.columns[tb.key:] {
		sets = append(sets, c+" = excluded."+c)
	}
	conflict := fmt.Sprintf(" ON CONFLICT (%s) DO UPDATE SET %s", strings.Join(tb.columns[:tb.key], ", "), strings.Join(sets, ", "))
	return each(ctx, t, tb.inserting()+conflict, records, tb.bind)
}

// insert adds records; one that exists already is an error.
func (tb table[R]) insert(ctx context.Context, t *tx, records []R) error {
	return each(ctx, t, tb.inserting(), records, tb.bind)
}

func (tb table[R]) inserting() string {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(tb.columns)), ", ")
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", tb.name, strings.Join(tb.columns, ", "), marks)
}

// find gives the records for which the rest of the query holds.
func (tb table[R]) find(ctx context.Context, t *tx, rest string, args ...any) ([]R, error) {
	return rows(ctx, t, tb.bind, tb.finding()+rest, args...)
}

func (tb table[R]) finding() string {
	return fmt.Sprintf("SELECT %s FROM %s ", strings.Join(tb.columns, ", "), tb.name)
}

// where gathers the conditions of a list.
type where struct {
	terms []string
	args  []any
}

// add adds a condition, when it is wanted.
func (w *where) add(wanted bool, term string, args ...any) {
	if wanted {
		w.terms, w.args = append(w.terms, term), append(w.args, args...)
	}
}

// query gives the rest of a query with its arguments; limit 0 is none.
func (w *where) query(order string, limit int) (string, []any) {
	rest := ""
	if len(w.terms) > 0 {
		rest = "WHERE " + strings.Join(w.terms, " AND ") + " "
	}
	if limit <= 0 {
		limit = -1
	}
	return rest + "ORDER BY " + order + " LIMIT ?", append(w.args, limit)
}

// byStatus lists for each status by itself, so that each is a walk along an index, and merges. No status is all.
func byStatus[R any](statuses []dependency.Status, limit int, compare func(a, b R) int, one func(dependency.Status) ([]R, error)) ([]R, error) {
	if len(statuses) == 0 {
		return one("")
	}
	var all []R
	for _, status := range slices.Compact(slices.Sorted(slices.Values(statuses))) {
		found, err := one(status)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, compare)
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all, nil
}
