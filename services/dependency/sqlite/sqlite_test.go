package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/graphtest"
)

func TestContract(t *testing.T) {
	graphtest.Run(t, func(t *testing.T) dependency.Graph { return open(t, filepath.Join(t.TempDir(), "graph.db")) })
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
