package neo4j_test

import (
	"context"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Two transactions look before either has written, so both see that there is nothing: one is first, and the other must
// run again and see what the first one made.
func TestOfTwoThatSawNothingOneIsFirst(t *testing.T) {
	g := open(t, config(t))
	defer func() { _ = g.Close(t.Context()) }()
	for name, claim := range map[string]struct {
		look func(context.Context, dependency.Tx) (holder string, err error)
		take func(context.Context, dependency.Tx, string) error
	}{
		"node": {
			look: func(ctx context.Context, tx dependency.Tx) (string, error) {
				found, err := tx.Nodes(ctx, []string{"a"})
				return found["a"].Generation, err
			},
			take: func(ctx context.Context, tx dependency.Tx, me string) error {
				return tx.SaveNodes(ctx, []dependency.Node{{ID: "a", Generation: me, Status: dependency.Live}})
			},
		},
		"setting": {
			look: func(ctx context.Context, tx dependency.Tx) (string, error) { return tx.Setting(ctx, "key") },
			take: func(ctx context.Context, tx dependency.Tx, me string) error { return tx.SaveSetting(ctx, "key", me) },
		},
		"place": {
			look: func(ctx context.Context, tx dependency.Tx) (string, error) {
				holders, err := tx.Places(ctx, []string{"p"})
				return holders["p"], err
			},
			take: func(ctx context.Context, tx dependency.Tx, me string) error {
				return tx.SavePlaces(ctx, map[string]string{"p": me})
			},
		},
		"key": {
			look: func(ctx context.Context, tx dependency.Tx) (string, error) {
				keys, err := tx.Keys(ctx, []dependency.Key{{Subject: "s", Key: "k"}})
				if err != nil {
					return "", err
				}
				return keys[0].Deletion, nil
			},
			take: func(ctx context.Context, tx dependency.Tx, me string) error {
				return tx.SaveKeys(ctx, []dependency.Key{{Subject: "s", Key: "k", Deletion: me}})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := deadline(t)
			var looked, done sync.WaitGroup
			looked.Add(2)
			runs, saw := [2]int{}, [2]string{}
			for i, me := range []string{"one", "two"} {
				done.Go(func() {
					err := g.Update(ctx, func(tx dependency.Tx) error {
						holder, err := claim.look(ctx, tx)
						if runs[i]++; runs[i] == 1 {
							looked.Done()
							looked.Wait()
						}
						saw[i] = holder
						if holder != "" || err != nil {
							return err
						}
						saw[i] = me
						return claim.take(ctx, tx, me)
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			done.Wait()
			if saw[0] != saw[1] || runs[0]+runs[1] < 3 {
				t.Errorf("they saw %q in %d runs", saw, runs)
			}
		})
	}
}
