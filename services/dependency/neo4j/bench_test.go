package neo4j_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
)

// BenchmarkAccept measures transactions that do what accepting deletions does, with 1 and with 100 of them in each. The
// first thousand transactions after the server's start are much slower than the others: look at long runs.
func BenchmarkAccept(b *testing.B) {
	g := open(b, config(b))
	defer func() { _ = g.Close(b.Context()) }()
	for _, size := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d in a transaction", size), func(b *testing.B) {
			accepted := 0
			for b.Loop() {
				b.StopTimer()
				ids := seed(b, g, size)
				b.StartTimer()
				if err := accept(b.Context(), g, ids); err != nil {
					b.Fatal(err)
				}
				accepted += size
			}
			b.ReportMetric(float64(accepted)/b.Elapsed().Seconds(), "accepts/s")
		})
	}
}

// seed makes live assets, each with a link to the one before.
func seed(t testing.TB, g *neo4j.Graph, count int) (ids []string) {
	t.Helper()
	var nodes []dependency.Node
	var links []dependency.Link
	for i := range count {
		n := dependency.Node{ID: uuid.NewString(), Kind: "mesh", Owner: "acme", Generation: newID(), Status: dependency.Live, Bytes: 1, CreatedAt: time.Now(), UpdatedAt: time.Now()}
		if i > 0 {
			links = append(links, dependency.Link{From: n.ID, Type: "REFERENCES", To: ids[i-1]})
		}
		ids, nodes = append(ids, n.ID), append(nodes, n)
	}
	ctx := deadline(t)
	err := g.Update(ctx, func(tx dependency.Tx) error {
		return errors.Join(tx.SaveNodes(ctx, nodes), tx.SaveLinks(ctx, links))
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// accept turns live assets into tombstones, with all that is written along.
func accept(ctx context.Context, g *neo4j.Graph, ids []string) error {
	return g.Update(ctx, func(tx dependency.Tx) error {
		if err := tx.Lock(ctx, dependency.Locks{Assets: ids, Owners: []string{"acme"}}); err != nil {
			return err
		}
		found, err := tx.Nodes(ctx, ids)
		if err != nil {
			return err
		}
		dependants, err := tx.Dependants(ctx, ids, []string{"DEPENDS_ON", "USES"}, 100)
		if err != nil || len(dependants) > 0 {
			return errors.Join(err, fmt.Errorf("%d dependants", len(dependants)))
		}
		now := time.Now()
		var (
			nodes     []dependency.Node
			deletions []dependency.DeletionRecord
			erasures  []dependency.Erasure
			commands  []dependency.Command
			entries   []dependency.Entry
		)
		for _, id := range ids {
			n, did := found[id], newID()
			n.Status, n.Deletion, n.RequestedAt, n.DueAt, n.Sequence = dependency.Deleting, did, now, now, 1
			nodes = append(nodes, n)
			deletions = append(deletions, dependency.DeletionRecord{ID: did, Root: id, Owner: n.Owner, Status: dependency.Deleting, RequestedBy: "ann", Reason: "old", RequestedAt: now, DueAt: now, Total: 1})
			erasures = append(erasures, dependency.Erasure{Deletion: did, Asset: id, Kind: n.Kind, Owner: n.Owner, Generation: n.Generation, Why: "requested", CheckAt: now,
				Steps: []dependency.Step{{Part: "payload", Generation: n.Generation, Status: dependency.StepWaiting}}})
			commands = append(commands, dependency.Command{ID: newID(), Deletion: did, Asset: id, DueAt: now, Since: now, ClaimedBy: "replica", ClaimedUntil: now.Add(time.Minute)})
			entries = append(entries, dependency.Entry{ID: newID(), Asset: id, Sequence: 1, Type: "tombstone.deletion.requested.v1", Time: now, Deletion: did, Generation: n.Generation, By: "ann", Reason: "old"})
		}
		usage := map[string]dependency.Usage{"acme": {Pending: int64(len(ids))}}
		return errors.Join(tx.SaveNodes(ctx, nodes), tx.SaveDeletions(ctx, deletions), tx.SaveErasures(ctx, erasures),
			tx.SaveCommands(ctx, commands), tx.Append(ctx, entries), tx.AddUsage(ctx, usage))
	})
}
