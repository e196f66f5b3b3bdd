package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// BenchmarkEntomb accepts deletions as T1 does: lock, read nodes and dependants, write everything, commit to disk.
func BenchmarkEntomb(b *testing.B) {
	for _, size := range []int{1, 100} {
		b.Run(fmt.Sprintf("batches of %d", size), func(b *testing.B) {
			g := open(b, filepath.Join(b.TempDir(), "graph.db"))
			defer closeGraph(b, g)
			batch := 0
			for b.Loop() {
				ids := make([]string, size)
				for i := range ids {
					ids[i] = fmt.Sprintf("%d-%d", batch, i)
				}
				batch++
				if err := g.Update(b.Context(), func(tx dependency.Tx) error { return accept(b.Context(), tx, ids) }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "deletions/s")
		})
	}
}

func accept(ctx context.Context, tx dependency.Tx, ids []string) error {
	if err := tx.Lock(ctx, dependency.Locks{Assets: ids}); err != nil {
		return err
	}
	if _, err := tx.Nodes(ctx, ids); err != nil {
		return err
	}
	if _, err := tx.Dependants(ctx, ids, []string{"DEPENDS_ON"}, 100); err != nil {
		return err
	}
	return entomb(ctx, tx, ids...)
}
