package crash

import (
	"context"
	"errors"
	"maps"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// splitGraph writes some things in a second transaction, after the first.
type splitGraph struct {
	dependency.Graph
	with func(*splitTx)
}

type splitTx struct {
	dependency.Tx
	commands, entries, usage, noKeys bool
	rest                             []func(ctx context.Context, tx dependency.Tx) error
}

func split(with func(*splitTx)) func(dependency.Graph) dependency.Graph {
	return func(inner dependency.Graph) dependency.Graph { return splitGraph{inner, with} }
}

func (g splitGraph) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	var t *splitTx
	err := g.Graph.Update(ctx, func(tx dependency.Tx) error {
		t = &splitTx{Tx: tx}
		g.with(t)
		return fn(t)
	})
	if err != nil || len(t.rest) == 0 {
		return err
	}
	return g.Graph.Update(ctx, func(tx dependency.Tx) error {
		var errs []error
		for _, write := range t.rest {
			errs = append(errs, write(ctx, tx))
		}
		return errors.Join(errs...)
	})
}

// put writes now, or keeps it for the second transaction.
func (t *splitTx) put(ctx context.Context, second bool, write func(ctx context.Context, tx dependency.Tx) error) error {
	if second {
		t.rest = append(t.rest, write)
		return nil
	}
	return write(ctx, t.Tx)
}

func (t *splitTx) SaveCommands(ctx context.Context, commands []dependency.Command) error {
	return t.put(ctx, t.commands && len(commands) > 0, func(ctx context.Context, tx dependency.Tx) error { return tx.SaveCommands(ctx, commands) })
}

func (t *splitTx) Append(ctx context.Context, entries []dependency.Entry) error {
	return t.put(ctx, t.entries && len(entries) > 0, func(ctx context.Context, tx dependency.Tx) error { return tx.Append(ctx, entries) })
}

func (t *splitTx) AddUsage(ctx context.Context, deltas map[string]dependency.Usage) error {
	deltas = maps.Clone(deltas)
	return t.put(ctx, t.usage && len(deltas) > 0, func(ctx context.Context, tx dependency.Tx) error { return tx.AddUsage(ctx, deltas) })
}

func (t *splitTx) SaveKeys(ctx context.Context, keys []dependency.Key) error {
	if t.noKeys {
		return nil
	}
	return t.Tx.SaveKeys(ctx, keys)
}
