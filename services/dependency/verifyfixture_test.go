package dependency_test

import (
	"context"
	"strings"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func (b *bench) verify() dependency.Verification {
	b.t.Helper()
	v, err := b.Verify(b.ctx, dependency.VerifyRequest{})
	if err != nil {
		b.t.Fatalf("verify: %v", err)
	}
	return v
}

// sound wants no violation among so many assets.
func (b *bench) sound(assets int) {
	b.t.Helper()
	if v := b.verify(); v.Total != 0 || len(v.Violations) != 0 || v.Checked != assets {
		b.t.Errorf("want %d sound assets, got %s", assets, pretty(v))
	}
}

// alone wants one violation, of that guarantee, about that asset (or owner), that says so.
func (b *bench) alone(guarantee, about, says string) dependency.Violation {
	b.t.Helper()
	v := b.verify()
	if len(v.Violations) != 1 || v.Total != 1 {
		b.t.Fatalf("want one violation, got %s", pretty(v))
	}
	found := v.Violations[0]
	if found.Guarantee != guarantee || found.Asset+found.Owner != about || !strings.Contains(found.Found, says) || found.Do == "" {
		b.t.Errorf("want %s of %s with %q, got %s", guarantee, about, says, pretty(found))
	}
	return found
}

// change writes past the rules.
func (b *bench) change(f func(ctx context.Context, tx dependency.Tx) error) {
	b.t.Helper()
	if err := b.graph.Update(b.t.Context(), func(tx dependency.Tx) error { return f(b.t.Context(), tx) }); err != nil {
		b.t.Fatal(err)
	}
}

// changeNode writes a node past the rules.
func (b *bench) changeNode(id string, f func(*dependency.Node)) {
	b.t.Helper()
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		nodes, err := tx.Nodes(ctx, []string{id})
		if err != nil {
			return err
		}
		n := nodes[id]
		f(&n)
		return tx.SaveNodes(ctx, []dependency.Node{n})
	})
}

// changeErasure writes what a deletion does to an asset past the rules.
func (b *bench) changeErasure(deletion, asset string, f func(*dependency.Erasure)) {
	b.t.Helper()
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		k := dependency.ErasureKey{Deletion: deletion, Asset: asset}
		all, err := tx.Erasures(ctx, []dependency.ErasureKey{k})
		if err != nil {
			return err
		}
		e := all[k]
		f(&e)
		return tx.SaveErasures(ctx, []dependency.Erasure{e})
	})
}

func (b *bench) changeDeletion(id string, f func(*dependency.DeletionRecord)) {
	b.t.Helper()
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		all, err := tx.Deletions(ctx, []string{id})
		if err != nil {
			return err
		}
		d := all[id]
		f(&d)
		return tx.SaveDeletions(ctx, []dependency.DeletionRecord{d})
	})
}

func (b *bench) dropFlags(deletion string) {
	b.t.Helper()
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		flags, err := tx.Commands(ctx, dependency.CommandFilter{Deletions: []string{deletion}})
		var ids []string
		for _, f := range flags {
			ids = append(ids, f.ID)
		}
		if err != nil {
			return err
		}
		return tx.RemoveCommands(ctx, ids)
	})
}
