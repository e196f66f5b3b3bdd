package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/graphtest"
)

func TestContract(t *testing.T) {
	defer goleak.VerifyNone(t)
	graphtest.Run(t, func(t *testing.T) dependency.Graph { return open(t, filepath.Join(t.TempDir(), "graph.db")) })
}

func TestAPauseOutlivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	graphtest.Restart(t, func(t *testing.T) dependency.Graph { return open(t, path) })
}

// open opens and prepares a graph.
func open(t testing.TB, path string) *Graph {
	t.Helper()
	g, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

func closeGraph(t testing.TB, g *Graph) {
	t.Helper()
	if err := g.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	t.Run("any name of a file will do", func(t *testing.T) {
		for _, name := range []string{":memory:", "a b?mode=memory#c%20d", "🪦.db"} {
			path := filepath.Join(t.TempDir(), name)
			g := open(t, path)
			save(t, g, dependency.Node{ID: "a", Status: dependency.Live})
			closeGraph(t, g)
			g = open(t, path)
			if got := count(t, g, "nodes"); got != 1 {
				t.Errorf("%q holds %d nodes after opening it again", name, got)
			}
			closeGraph(t, g)
		}
	})
	t.Run("a folder that does not exist is an error that names the file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "absent", "graph.db")
		if _, err := Open(path); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path+": make its folder first") {
			t.Errorf("got %v", err)
		}
	})
}

func TestSettings(t *testing.T) {
	g := open(t, filepath.Join(t.TempDir(), "graph.db"))
	defer closeGraph(t, g)
	for name, p := range map[string]*pool{"the writer": g.writer, "a reader": g.readers} {
		for setting, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "fullfsync": "1", "foreign_keys": "1", "busy_timeout": "60000"} {
			var got string
			err := p.with(t.Context(), func(c *connection) error { return c.conn.QueryRowContext(t.Context(), "PRAGMA "+setting).Scan(&got) })
			if err != nil || got != want {
				t.Errorf("%s of %s is %q, want %s (%v)", setting, name, got, want, err)
			}
		}
	}
	t.Run("a view cannot write", func(t *testing.T) {
		err := g.View(t.Context(), func(tx dependency.Tx) error { return tx.SaveSetting(t.Context(), "a", "b") })
		if err == nil {
			t.Error("it wrote")
		}
	})
}

func TestTwoHandles(t *testing.T) {
	t.Run("writers of two handles on one file wait for each other", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "graph.db")
		const each = 100
		done := make(chan error)
		for range 2 {
			g := open(t, path)
			defer closeGraph(t, g)
			go func() {
				var err error
				for range each {
					err = errors.Join(err, g.Update(t.Context(), func(tx dependency.Tx) error {
						used, err := tx.Usage(t.Context(), []string{"o"}) // a read first, as deferred transactions would trip over
						if err != nil || used["o"].Bytes != used["o"].Assets {
							return errors.Join(err, errors.New("half a transaction was seen"))
						}
						return tx.AddUsage(t.Context(), map[string]dependency.Usage{"o": {Assets: 1, Bytes: 1}})
					}))
				}
				done <- err
			}()
		}
		if err := errors.Join(<-done, <-done); err != nil {
			t.Fatal(err)
		}
		g := open(t, path)
		defer closeGraph(t, g)
		err := g.View(t.Context(), func(tx dependency.Tx) error {
			used, err := tx.Usage(t.Context(), []string{"o"})
			if used["o"].Assets != 2*each {
				t.Errorf("counted %d", used["o"].Assets)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a writer that waits for another handle ends with its context", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "graph.db")
		holder, waiter := open(t, path), open(t, path)
		defer closeGraph(t, holder)
		defer closeGraph(t, waiter)
		err := holder.Update(t.Context(), func(dependency.Tx) error {
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error)
			go func() { result <- waiter.Update(ctx, func(dependency.Tx) error { return nil }) }()
			cancel()
			if err := <-result; !errors.Is(err, problem.Unavailable) || !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func save(t testing.TB, g *Graph, saved ...dependency.Node) {
	t.Helper()
	if err := g.Update(t.Context(), func(tx dependency.Tx) error { return tx.SaveNodes(t.Context(), saved) }); err != nil {
		t.Fatal(err)
	}
}

// count tells how many rows a table has.
func count(t testing.TB, g *Graph, table string) (n int) {
	t.Helper()
	if err := g.db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
