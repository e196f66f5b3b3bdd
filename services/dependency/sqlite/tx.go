package sqlite

import (
	"context"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// tx is one transaction. After a call that failed there is no going on: the store may have rolled back by itself, and
// what came after would stand alone.
type tx struct {
	*connection
	failed error
}

var _ dependency.Tx = (*tx)(nil)

// inTx lends the connection's transaction to fn. A call that failed is the error, even if fn passes over it.
func inTx(fn func(dependency.Tx) error) func(*connection) error {
	return func(c *connection) error {
		t := &tx{connection: c}
		if err := fn(t); err != nil {
			return err
		}
		return t.failed
	}
}

// Lock has nothing to do: a transaction that writes is alone from its first moment.
func (t *tx) Lock(ctx context.Context, _ dependency.Locks) error {
	return t.call(func() error {
		if err := ctx.Err(); err != nil {
			return unavailable(err)
		}
		return nil
	})
}

// call runs one call of the transaction, unless one failed before.
func (t *tx) call(fn func() error) error {
	if t.failed == nil {
		t.failed = fn()
	}
	return t.failed
}

// change runs a statement and tells how many rows it changed.
func (t *tx) change(ctx context.Context, query string, args ...any) (affected int64, err error) {
	err = t.call(func() (err error) {
		affected, err = t.affect(ctx, query, args...)
		return err
	})
	return affected, err
}

// each runs a statement for each item, with the arguments that bind gives.
func each[R any](ctx context.Context, t *tx, query string, items []R, bind func(*R) []any) error {
	for i := range items {
		if _, err := t.change(ctx, query, bind(&items[i])...); err != nil {
			return err
		}
	}
	return nil
}

// rows runs a query and scans each row into what bind gives.
func rows[R any](ctx context.Context, t *tx, bind func(*R) []any, query string, args ...any) (all []R, err error) {
	err = t.call(func() error {
		s, err := t.statement(ctx, query)
		if err != nil {
			return failure(ctx, err)
		}
		found, err := s.QueryContext(ctx, args...)
		if err != nil {
			return failure(ctx, err)
		}
		defer found.Close()
		for found.Next() {
			var r R
			if err := found.Scan(bind(&r)...); err != nil {
				return failure(ctx, err)
			}
			all = append(all, r)
		}
		if err := found.Err(); err != nil {
			return failure(ctx, err)
		}
		return nil
	})
	return all, err
}
