package neo4j_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/graphtest"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/test/containers"
)

func TestMain(m *testing.M) { containers.Main(m) }

func TestNeo4jKeepsTheContractOfTheGraph(t *testing.T) {
	graphtest.Run(t, func(t *testing.T) dependency.Graph { return open(t, config(t)) })
}

func TestAPauseOutlivesTheProcess(t *testing.T) {
	c := config(t)
	graphtest.Restart(t, func(t *testing.T) dependency.Graph { return open(t, c) })
}

// The race detector watches it.
func TestTheFirstTransactionsMayBeginTogether(t *testing.T) {
	g, err := neo4j.Open(t.Context(), config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close(deadline(t)) })
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if err := g.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
}

// config is that of the shared server, emptied.
func config(t testing.TB) neo4j.Config {
	t.Helper()
	a := containers.Neo4j(t)
	wipe(t, a)
	return connect(a)
}

// connect is the configuration for a server, with the link types of the contract suite.
func connect(a containers.Neo4jAddr) neo4j.Config {
	return neo4j.Config{
		URI: a.URI, User: a.User, Password: a.Password, Timeout: patience,
		Names: policy.Graph{Label: "Asset", ID: "id", Kind: "kind", Owner: "owner"},
		Links: links("DEPENDS_ON", "USES", "REFERENCES"),
	}
}

func links(types ...string) map[string]policy.Link {
	all := map[string]policy.Link{}
	for _, t := range types {
		all[t] = policy.Link{Type: t}
	}
	return all
}

// open gives a prepared graph.
func open(t testing.TB, c neo4j.Config) *neo4j.Graph {
	t.Helper()
	g, err := neo4j.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Prepare(deadline(t)); err != nil {
		t.Fatal(err)
	}
	return g
}

// patience is far beyond what any call here needs.
const patience = 2 * time.Minute

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
