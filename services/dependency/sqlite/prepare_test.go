package sqlite

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestPrepare(t *testing.T) {
	t.Run("an empty file gets all tables, once, whoever comes first", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "graph.db")
		var wait sync.WaitGroup
		for range 4 {
			g, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer closeGraph(t, g)
			wait.Go(func() {
				if err := g.Prepare(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		g := open(t, path)
		defer closeGraph(t, g)
		scripts, err := fs.Glob(migrations, "migrations/*.sql")
		if got := version(t, g); err != nil || got != len(scripts) {
			t.Errorf("version %d after %d migrations, %v", got, len(scripts), err)
		}
	})
	t.Run("a file of this version is left as it is", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "graph.db")
		g := open(t, path)
		save(t, g, dependency.Node{ID: "a", Status: dependency.Live})
		closeGraph(t, g)
		g = open(t, path)
		defer closeGraph(t, g)
		if got := count(t, g, "nodes"); got != 1 {
			t.Errorf("%d nodes", got)
		}
	})
	t.Run("a file of a newer version is refused, and not touched", func(t *testing.T) {
		g := open(t, filepath.Join(t.TempDir(), "graph.db"))
		defer closeGraph(t, g)
		if _, err := g.db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
			t.Fatal(err)
		}
		if err := g.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "newer version (99)") {
			t.Errorf("got %v", err)
		}
		if got := version(t, g); got != 99 {
			t.Errorf("version %d", got)
		}
	})
	t.Run("a migration that fails leaves nothing", func(t *testing.T) {
		g, err := Open(filepath.Join(t.TempDir(), "graph.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer closeGraph(t, g)
		if _, err := g.db.ExecContext(t.Context(), "CREATE TABLE settings (x)"); err != nil { // in the way of the last one
			t.Fatal(err)
		}
		if err := g.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "0001_first.sql") {
			t.Errorf("got %v", err)
		}
		if got, tables := version(t, g), count(t, g, "sqlite_schema"); got != 0 || tables != 1 {
			t.Errorf("version %d with %d tables and indexes", got, tables)
		}
	})
}

func version(t *testing.T, g *Graph) (n int) {
	t.Helper()
	err := g.writer.with(t.Context(), func(c *connection) error {
		return c.conn.QueryRowContext(context.WithoutCancel(t.Context()), "PRAGMA user_version").Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAPathThatCannotBeAFileIsRefusedWithTheReason(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none", "graph.db"): "make its folder first",
		dir:                                    "is a directory",
	} {
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), want) || problem.As(err) != nil {
			t.Errorf("%s: expected an error with %q that is no refusal, got %v", path, want, err)
		}
	}
}
