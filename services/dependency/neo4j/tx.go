package neo4j

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// tx is one attempt at a transaction.
type tx struct {
	raw      neo4j.ExplicitTransaction
	names    names
	deadline time.Time
	absent   map[record]bool // what was asked for and does not exist
	failed   error           // the first error of a statement; the transaction is lost then
	fault    fault           // of failed
}

var _ dependency.Tx = (*tx)(nil)

// record is one record of a sort of which two transactions may want to be the first.
type record struct{ sort, id string }

func newTx(raw neo4j.ExplicitTransaction, n names, deadline time.Time) *tx {
	return &tx{raw: raw, names: n, deadline: deadline, absent: map[record]bool{}}
}

// params are the parameters of a statement.
type params = map[string]any

// read runs a statement and gives all its records.
func (t *tx) read(ctx context.Context, what, text string, p params) ([]*neo4j.Record, error) {
	ctx, cancel := context.WithDeadline(ctx, t.deadline)
	defer cancel()
	result, err := t.raw.Run(ctx, t.names.cypher(text), p)
	if err == nil {
		var records []*neo4j.Record
		if records, err = result.Collect(ctx); err == nil {
			return records, nil
		}
	}
	return nil, t.fail(ctx, what, err)
}

// write runs a statement that gives no records. It does not wait for the end of it; an error may come with a later
// statement, or with the commit.
func (t *tx) write(ctx context.Context, what, text string, p params) error {
	ctx, cancel := context.WithDeadline(ctx, t.deadline)
	defer cancel()
	if _, err := t.raw.Run(ctx, t.names.cypher(text), p); err != nil {
		return t.fail(ctx, what, err)
	}
	return nil
}

// writeRows is write with the rows as $rows, if there are any.
func (t *tx) writeRows(ctx context.Context, what, text string, rows []params) error {
	if len(rows) == 0 {
		return nil
	}
	return t.write(ctx, what, text, params{"rows": rows})
}

// fail remembers that the transaction is lost, and why. ctx is that of the statement.
func (t *tx) fail(ctx context.Context, what string, err error) error {
	err = fmt.Errorf("%s: %w", what, err)
	if t.failed == nil {
		t.failed, t.fault = err, faultOf(ctx, err)
	}
	return err
}

// blame classifies an error that fn returned: fn's own, unless it is that of a statement.
func (t *tx) blame(err error) fault {
	if t.failed == nil || !errors.Is(err, t.failed) {
		return foreign
	}
	return t.fault
}
