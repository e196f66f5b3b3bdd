package neo4j_test

import (
	"testing"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/tombstone-project/tombstone/test/containers"
)

// raw runs a statement on the shared server beside the adapter, and gives its records.
func raw(t testing.TB, a containers.Neo4jAddr, text string, params map[string]any) []*driver.Record {
	t.Helper()
	ctx := deadline(t)
	d, err := driver.NewDriverWithContext(a.URI, driver.BasicAuth(a.User, a.Password, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close(ctx) }()
	s := d.NewSession(ctx, driver.SessionConfig{})
	defer func() { _ = s.Close(ctx) }()
	result, err := s.Run(ctx, text, params)
	if err != nil {
		t.Fatal(err)
	}
	records, err := result.Collect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// wipe removes all nodes and their relationships, in bounded transactions. Constraints and indexes stay.
func wipe(t testing.TB, a containers.Neo4jAddr) {
	t.Helper()
	raw(t, a, "MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS", nil)
}
