package neo4j_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/test/containers"
)

// Replicas that start together all make the schema, in a graph that has nothing of it or an older one.
func TestSeveralPrepareTheSchemaAtOnce(t *testing.T) {
	a := containers.Neo4j(t)
	for name, older := range map[string]string{
		"of an empty graph":         "",
		"of one with an older part": "CREATE CONSTRAINT FOR (n:%[1]s) REQUIRE n.id IS UNIQUE",
		"of one with its own names": "CREATE INDEX own_%[1]s FOR (n:%[1]s) ON (n.owner, n.id)",
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(a)
			c.Names.Label = fmt.Sprintf("Upgraded%d", rand.Uint32())
			if older != "" {
				raw(t, a, fmt.Sprintf(older, c.Names.Label), nil)
			}
			var replicas sync.WaitGroup
			for range 6 {
				g, err := neo4j.Open(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = g.Close(deadline(t)) }()
				replicas.Go(func() {
					if err := g.Prepare(deadline(t)); err != nil {
						t.Error(err)
					}
				})
			}
			replicas.Wait()
			made := raw(t, a, "SHOW INDEXES YIELD labelsOrTypes, state WHERE $label IN labelsOrTypes AND state = 'ONLINE' RETURN count(*)",
				map[string]any{"label": c.Names.Label})
			if n := made[0].Values[0]; n != int64(3) {
				t.Errorf("%d indexes of the assets are usable, want 3", n)
			}
		})
	}
}

// While versions run side by side, what the newer one notes in properties of its own outlives the older one's writes; and
// what the older one clears is cleared.
func TestWhatANewerVersionNotesStays(t *testing.T) {
	c := config(t)
	a := containers.Neo4j(t)
	g := open(t, c)
	defer func() { _ = g.Close(t.Context()) }()
	save := func(reason, owner string) {
		t.Helper()
		err := g.Update(deadline(t), func(tx dependency.Tx) error {
			ctx := t.Context()
			if err := tx.SaveNodes(ctx, []dependency.Node{{ID: "a", Owner: owner, Status: dependency.Deleting, Deletion: reason}}); err != nil {
				return err
			}
			if err := tx.SaveDeletions(ctx, []dependency.DeletionRecord{{ID: "d", Root: "a", Status: dependency.Deleting, Reason: reason}}); err != nil {
				return err
			}
			if err := tx.SaveErasures(ctx, []dependency.Erasure{{Deletion: "d", Asset: "a", Why: reason}}); err != nil {
				return err
			}
			if err := tx.SaveCommands(ctx, []dependency.Command{{ID: "c", Deletion: "d", Asset: "a", Cause: reason}}); err != nil {
				return err
			}
			if err := tx.SaveBatches(ctx, []dependency.BatchRecord{{ID: "b", Owner: owner, Open: reason != "", Reason: reason}}); err != nil {
				return err
			}
			return tx.SaveRefusals(ctx, []dependency.Refusal{{Batch: "b", Asset: "a", Detail: reason}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	save("older", "acme")
	raw(t, a, "MATCH (n) WHERE n:Asset OR n:Deletion OR n:Erasure OR n:Command OR n:DeletionBatch OR n:BatchRefusal SET n.from_newer = true", nil)
	save("", "acme")
	for _, r := range raw(t, a, "MATCH (n) WHERE n:Asset OR n:Deletion OR n:Erasure OR n:Command OR n:DeletionBatch OR n:BatchRefusal RETURN labels(n)[0], n.from_newer, [k IN keys(n) WHERE n[k] = 'older' OR k = 'erasing']", nil) {
		if r.Values[1] != true {
			t.Errorf("%v: what the newer version noted is gone", r.Values[0])
		}
		if diff := cmp.Diff([]any{}, r.Values[2]); diff != "" {
			t.Errorf("%v: not cleared (-want +got):\n%s", r.Values[0], diff)
		}
	}
}
