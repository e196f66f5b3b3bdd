package neo4j

import (
	"context"
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// schema gives the constraints and indexes, without names of their own: so an equal one that an adopted graph has already
// counts, whatever it is called. A look-up that no index serves would scan; an index that no look-up uses costs at every
// write.
func schema() []string {
	return []string{
		"CREATE CONSTRAINT IF NOT EXISTS FOR (n:<asset>) REQUIRE n.<id> IS UNIQUE",
		"CREATE INDEX IF NOT EXISTS FOR (n:<asset>) ON (n.<owner>, n.<id>)",
		"CREATE INDEX IF NOT EXISTS FOR (n:<asset>) ON (n.<kind>, n.<id>)",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (d:Deletion) REQUIRE d.id IS UNIQUE",
		"CREATE INDEX IF NOT EXISTS FOR (d:Deletion) ON (d.status, d.id)",
		"CREATE INDEX IF NOT EXISTS FOR (d:Deletion) ON (d.status, d.due_at)",
		"CREATE INDEX IF NOT EXISTS FOR (d:Deletion) ON (d.blocked_reason)",
		"CREATE INDEX IF NOT EXISTS FOR (d:Deletion) ON (d.owner, d.id)",
		"CREATE INDEX IF NOT EXISTS FOR (d:Deletion) ON (d.batch, d.id)",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (e:Erasure) REQUIRE (e.deletion, e.asset) IS UNIQUE",
		"CREATE INDEX IF NOT EXISTS FOR (e:Erasure) ON (e.deletion, e.position)",
		"CREATE INDEX IF NOT EXISTS FOR (e:Erasure) ON (e.check_at)",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (c:Command) REQUIRE c.id IS UNIQUE",
		"CREATE INDEX IF NOT EXISTS FOR (c:Command) ON (c.deletion, c.asset)",
		"CREATE INDEX IF NOT EXISTS FOR (c:Command) ON (c.due_at)",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (e:AuditEntry) REQUIRE (e.asset, e.sequence) IS UNIQUE",
		"CREATE INDEX IF NOT EXISTS FOR (e:AuditEntry) ON (e.id)",
		"CREATE INDEX IF NOT EXISTS FOR (e:Unsent) ON (e.time)",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (o:OwnerUsage) REQUIRE o.owner IS UNIQUE",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (k:IdempotencyKey) REQUIRE (k.subject, k.key) IS UNIQUE",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (p:ClaimedPlace) REQUIRE p.place IS UNIQUE",
		"CREATE INDEX IF NOT EXISTS FOR (p:ClaimedPlace) ON (p.asset)",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (s:GraphSetting) REQUIRE s.name IS UNIQUE",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (b:DeletionBatch) REQUIRE b.id IS UNIQUE",
		"CREATE INDEX IF NOT EXISTS FOR (b:DeletionBatch) ON (b.erasing)",
		"CREATE CONSTRAINT IF NOT EXISTS FOR (r:BatchRefusal) REQUIRE (r.batch, r.asset) IS UNIQUE",
	}
}

// longest is how long Prepare may take: the first time on a large adopted graph, indexes take their time.
const longest = 24 * time.Hour

// Prepare creates what is missing of the schema and waits until all of it is usable, at most until ctx ends; the server
// goes on filling indexes all the same.
func (g *Graph) Prepare(ctx context.Context) error {
	wait := fmt.Sprintf("CALL db.awaitIndexes(%d)", int(longest.Seconds()))
	for _, statement := range append(schema(), wait) {
		err := g.transact(ctx, true, longest, func(t dependency.Tx) error {
			return t.(*tx).write(ctx, statement, statement, nil)
		})
		if err != nil {
			return fmt.Errorf("prepare the graph: %w", err)
		}
	}
	return nil
}
