package graphtest

import (
	"context"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// transition is one asset on its way from live to tombstone, with everything that is written along.
type transition struct {
	live, tombstone dependency.Node
	deletion        dependency.DeletionRecord
	erasure         dependency.Erasure
	command         dependency.Command
	entry           dependency.Entry
}

func newTransition(t *testing.T, g dependency.Graph, id string) transition {
	t.Helper()
	w := transition{live: node(id, id), deletion: deletion(id, id, dependency.Deleting), entry: entry(id, 1)}
	w.tombstone = tombstone(w.live, dependency.Deleting, w.deletion.ID)
	w.erasure, w.command = erasure(w.deletion.ID, id, 0), command(w.deletion.ID, id)
	save(t, g, w.live)
	return w
}

func (w transition) entomb(ctx context.Context, tx dependency.Tx) error {
	if err := tx.Lock(ctx, dependency.Locks{Assets: []string{w.live.ID}}); err != nil {
		return err
	}
	if err := write(ctx, tx, w.tombstone, w.deletion, w.erasure, w.command, w.entry); err != nil {
		return err
	}
	return tx.AddUsage(ctx, map[string]dependency.Usage{w.live.Owner: {Pending: 1}})
}

// seen is what a transaction sees of a transition.
type seen struct {
	status                          dependency.Status
	deletion, erasure, flag, usage  bool
	entries, erasuresDue, flagsList int
}

var (
	sawNothing = seen{status: dependency.Live}
	sawAll     = seen{status: dependency.Deleting, deletion: true, erasure: true, flag: true, usage: true, entries: 1, erasuresDue: 1, flagsList: 1}
)

func (w transition) look(ctx context.Context, tx dependency.Tx) (s seen, err error) {
	steps := []func() error{
		func() error {
			found, err := tx.Nodes(ctx, []string{w.live.ID})
			s.status = found[w.live.ID].Status
			return err
		},
		func() error {
			found, err := tx.Deletions(ctx, []string{w.deletion.ID})
			_, s.deletion = found[w.deletion.ID]
			return err
		},
		func() error {
			key := dependency.ErasureKey{Deletion: w.deletion.ID, Asset: w.live.ID}
			found, err := tx.Erasures(ctx, []dependency.ErasureKey{key})
			_, s.erasure = found[key]
			return err
		},
		func() error {
			found, err := tx.Commands(ctx, dependency.CommandFilter{IDs: []string{w.command.ID}})
			s.flag = len(found) > 0
			return err
		},
		func() error {
			found, err := tx.Usage(ctx, []string{w.live.Owner})
			s.usage = found[w.live.Owner].Pending > 0
			return err
		},
		func() error {
			found, err := tx.Trail(ctx, w.live.ID, 0, 10)
			s.entries = len(found)
			return err
		},
		func() error {
			found, err := tx.DueErasures(ctx, at(30), false, 1000)
			for _, e := range found {
				if e.Deletion == w.deletion.ID {
					s.erasuresDue++
				}
			}
			return err
		},
		func() error {
			found, err := tx.Commands(ctx, dependency.CommandFilter{Deletions: []string{w.deletion.ID}})
			s.flagsList = len(found)
			return err
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return s, err
		}
	}
	return s, nil
}

// sees compares what a View sees now.
func (w transition) sees(t *testing.T, g dependency.Graph, want seen) {
	t.Helper()
	if got := read(t, g, w.look); got != want {
		t.Errorf("saw %+v, want %+v", got, want)
	}
}

// nothing checks that nothing was kept, and that the asset can still be changed.
func (w transition) nothing(t *testing.T, g dependency.Graph) {
	t.Helper()
	w.sees(t, g, sawNothing)
	update(t, g, w.entomb)
	w.sees(t, g, sawAll)
}
