package apitest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

// Real is the dependency service itself, on an empty SQLite graph, under a policy; for tests of what no fake can answer. Both
// end with the test.
func Real(t testing.TB, text string) (*dependency.Service, dependency.Graph) {
	t.Helper()
	g, err := sqlite.Open(filepath.Join(t.TempDir(), "graph.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close(context.Background()) })
	p, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dependency.New(dependency.Config{Graph: g, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, g
}
