package crash

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

// store is a graph that one run after another has for itself. Its file is in memory where the system offers that.
type store struct {
	*sqlite.Graph
	file *sql.DB
}

func openStore(t *testing.T) *store {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "tombstone-crash-")
	if err != nil {
		folder = t.TempDir()
	}
	file := filepath.Join(folder, "graph.db")
	g, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		_ = db.Close()
		_ = os.RemoveAll(folder)
	})
	return &store{g, db}
}

// empty removes everything from the graph.
func (s *store) empty(t *testing.T) {
	t.Helper()
	rows, err := s.file.Query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		if _, err := s.file.Exec("DELETE FROM " + name); err != nil {
			t.Fatal(err)
		}
	}
}
