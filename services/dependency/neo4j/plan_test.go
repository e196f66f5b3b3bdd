package neo4j

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/containers"
)

// explaining is a transaction that looks at the plan of every statement before it runs it.
type explaining struct {
	neo4j.ExplicitTransaction
	t    *testing.T
	seen map[string]bool
}

// scans are operators that look at more than what was asked for.
var scans = []string{
	"AllNodesScan", "NodeByLabelScan", "IntersectionNodeByLabelsScan", "UnionNodeByLabelsScan", "DirectedAllRelationshipsScan", "UndirectedAllRelationshipsScan",
	"DirectedRelationshipTypeScan", "UndirectedRelationshipTypeScan", "CartesianProduct", "NodeHashJoin",
}

// wholeIndex is right where what has a property at all is asked for, which is few.
const wholeIndex = "NodeIndexScan"

func (e *explaining) Run(ctx context.Context, text string, p map[string]any) (neo4j.ResultWithContext, error) {
	result, err := e.ExplicitTransaction.Run(ctx, "EXPLAIN "+text, p)
	if err != nil {
		return nil, err
	}
	summary, err := result.Consume(ctx)
	if err != nil {
		return nil, err
	}
	if !e.seen[text] {
		e.seen[text] = true
		e.check(text, summary.Plan())
	}
	return e.ExplicitTransaction.Run(ctx, text, p)
}

// check refuses scans, but for the product of two single nodes.
func (e *explaining) check(text string, p neo4j.Plan) {
	operator := strings.TrimSuffix(p.Operator(), "@neo4j")
	one := operator == "CartesianProduct" && !slices.ContainsFunc(p.Children(), func(c neo4j.Plan) bool { return !strings.HasPrefix(c.Operator(), "NodeUniqueIndexSeek") })
	if slices.Contains(scans, operator) && !one || operator == wholeIndex && !strings.Contains(text, "IS NOT NULL") {
		e.t.Errorf("%s in the plan of\n%s", operator, text)
	}
	for _, child := range p.Children() {
		e.check(text, child)
	}
}

// TestEveryStatementIsServedByAnIndex runs every method of a transaction, with every filter, on a graph that has some
// hundred of everything, and on one of whose assets the planner knows nothing yet, as after an import: it takes them for
// none, and none are found as fast by a scan.
func TestEveryStatementIsServedByAnIndex(t *testing.T) {
	for label, size := range map[string]int{"Asset": 300, "JustImported": 0} {
		t.Run(fmt.Sprintf("%s, %d known", label, size), func(t *testing.T) { explainAll(t, label, size) })
	}
}

func explainAll(t *testing.T, label string, size int) {
	a := containers.Neo4j(t)
	g, err := Open(t.Context(), Config{
		URI: a.URI, User: a.User, Password: a.Password,
		Names: policy.Graph{Label: label, ID: "id", Kind: "kind", Owner: "owner"},
		Links: map[string]policy.Link{"USES": {}, "PART": {Reversed: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	defer func() { _ = g.Close(ctx) }()
	if err := g.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	if err := g.Update(ctx, func(tx dependency.Tx) error { return fill(ctx, tx, size) }); err != nil {
		t.Fatal(err)
	}
	s := g.session(ctx)
	defer func() { _ = s.Close(ctx) }()
	raw, err := s.BeginTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Rollback(ctx) }()
	e := &explaining{ExplicitTransaction: raw, t: t, seen: map[string]bool{}}
	x := newTx(e, g.names, time.Now().Add(2*time.Minute))
	if err := errors.Join(fill(ctx, x, 1), ask(ctx, x), remove(ctx, x)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d statements", len(e.seen))
}

// fill writes count records of every sort.
func fill(ctx context.Context, tx dependency.Tx, count int) error {
	var (
		nodes     []dependency.Node
		links     []dependency.Link
		deletions []dependency.DeletionRecord
		erasures  []dependency.Erasure
		commands  []dependency.Command
		entries   []dependency.Entry
		keys      []dependency.Key
		batches   []dependency.BatchRecord
		refusals  []dependency.Refusal
	)
	usage, places := map[string]dependency.Usage{}, map[string]string{}
	now := time.Now()
	for i := range count {
		id, did := fmt.Sprintf("plan-%d-%d", count, i), uuid.Must(uuid.NewV7()).String()
		owner := fmt.Sprintf("owner-%d", i%10)
		nodes = append(nodes, dependency.Node{ID: id, Kind: "mesh", Owner: owner, Generation: did, Status: dependency.Live})
		links = append(links, dependency.Link{From: id, Type: "USES", To: nodes[0].ID}, dependency.Link{From: id, Type: "PART", To: nodes[0].ID})
		deletions = append(deletions, dependency.DeletionRecord{ID: did, Root: id, Owner: owner, Status: dependency.Deleting, Batch: owner, DueAt: now})
		erasures = append(erasures, dependency.Erasure{Deletion: did, Asset: id, CheckAt: now})
		commands = append(commands, dependency.Command{ID: did, Deletion: did, Asset: id, DueAt: now, Since: now})
		entries = append(entries, dependency.Entry{ID: did, Asset: id, Sequence: 1, Time: now})
		keys = append(keys, dependency.Key{Subject: owner, Key: id, Deletion: did})
		batches = append(batches, dependency.BatchRecord{ID: did, Owner: id, Open: true})
		refusals = append(refusals, dependency.Refusal{Batch: owner, Asset: id})
		usage[owner], places[id] = dependency.Usage{Assets: 1}, id
	}
	return errors.Join(tx.SaveNodes(ctx, nodes), tx.SaveLinks(ctx, links), tx.SaveDeletions(ctx, deletions), tx.SaveErasures(ctx, erasures),
		tx.SaveCommands(ctx, commands), tx.Append(ctx, entries), tx.SaveKeys(ctx, keys), tx.AddUsage(ctx, usage), tx.SavePlaces(ctx, places),
		tx.SaveBatches(ctx, batches), tx.SaveRefusals(ctx, refusals), tx.SaveSetting(ctx, fmt.Sprint("plan-", count), "on"))
}

// ask calls every method that reads, with every filter that has a plan of its own.
func ask(ctx context.Context, tx dependency.Tx) error {
	var errs []error
	note := func(_ any, err error) { errs = append(errs, err) }
	ids, now := []string{"plan-300-0", "plan-300-1"}, time.Now()
	keys := []dependency.ErasureKey{{Deletion: "d", Asset: "a"}}
	errs = append(errs, tx.Lock(ctx, dependency.Locks{Assets: ids, Owners: ids, Deletions: ids}))
	note(tx.Nodes(ctx, ids))
	for _, f := range []dependency.NodeFilter{{}, {Kind: "mesh"}, {Owner: "owner-1"}, {Owner: "owner-1", Kind: "mesh"}} {
		f.Statuses, f.Limit = []dependency.Status{dependency.Live}, 10
		note(tx.ListNodes(ctx, f))
	}
	note(tx.Outgoing(ctx, ids))
	for _, types := range [][]string{{"USES"}, {"PART"}, {"USES", "PART"}} {
		note(tx.Incoming(ctx, ids[0], types, dependency.Link{}, 10))
		note(tx.Dependants(ctx, ids, types, 10))
		note(tx.Sources(ctx, ids, types, 10))
		note(tx.Ahead(ctx, ids, types, types, 10))
	}
	note(tx.HiddenLinks(ctx, ids, "d"))
	errs = append(errs, tx.SaveLinks(ctx, spokes(ids[0])))
	note(tx.Deletions(ctx, ids))
	one, some, late := []dependency.Status{dependency.Deleting}, []dependency.Status{dependency.Deleting, dependency.Scheduled}, true
	for _, f := range []dependency.DeletionFilter{{}, {Statuses: one}, {Statuses: some}, {Owner: "owner-1"}, {Batch: "owner-1"}, {Stalled: &late},
		{Blocked: true, Statuses: one}} {
		note(tx.ListDeletions(ctx, f))
		note(tx.CountDeletions(ctx, f))
	}
	note(tx.Overdue(ctx, now, 10))
	note(tx.CountIncomplete(ctx, now))
	note(tx.Erasures(ctx, keys))
	note(tx.ListErasures(ctx, "d", -1, 10))
	note(tx.FirstErasures(ctx, ids, 10))
	note(tx.DueErasures(ctx, now, true, 10))
	for _, f := range []dependency.CommandFilter{{}, {IDs: ids}, {Erasures: keys}, {Deletions: ids}, {DueBy: now, FreeAt: now}, {OlderThan: now}} {
		note(tx.Commands(ctx, f))
	}
	_, _, err := tx.CountCommands(ctx, now)
	errs = append(errs, err)
	note(tx.Trail(ctx, ids[0], 0, 10))
	note(tx.Entries(ctx, "a", 10))
	note(tx.CountEntries(ctx, "a", "b", 10))
	note(tx.LastSequences(ctx, ids))
	note(tx.Unsent(ctx, now, 10))
	note(tx.MarkUnsent(ctx, now, "", 10))
	note(tx.Batches(ctx, ids))
	note(tx.OpenBatches(ctx, 10))
	note(tx.ErasingOwners(ctx, ids))
	note(tx.CountBatch(ctx, "owner-1"))
	note(tx.ListRefusals(ctx, "owner-1", "", 10))
	note(tx.CountRefusals(ctx, "owner-1"))
	note(tx.Usage(ctx, ids))
	note(tx.Keys(ctx, []dependency.Key{{Subject: "s", Key: "k"}}))
	note(tx.Places(ctx, ids))
	note(tx.Setting(ctx, "plan"))
	return errors.Join(errs...)
}

// spokes are so many links to one target, half of a type, that they are looked for from there; their sources do not exist.
func spokes(to string) (links []dependency.Link) {
	for i := range 2 * denseFrom {
		links = append(links, dependency.Link{From: fmt.Sprint("absent-", i/2), Type: []string{"USES", "PART"}[i%2], To: to})
	}
	return links
}

// remove calls every method that takes something away.
func remove(ctx context.Context, tx dependency.Tx) error {
	ids := []string{"plan-300-0", "plan-300-1"}
	_, err := tx.Unlink(ctx, ids, 10)
	return errors.Join(err, tx.RemoveLinks(ctx, []dependency.Link{{From: ids[1], Type: "USES", To: ids[0]}}), tx.RemoveCommands(ctx, ids), tx.DropCommands(ctx, ids),
		tx.MarkSent(ctx, ids), tx.RemoveNodes(ctx, ids), tx.ReleasePlaces(ctx, ids), tx.Forget(ctx, ids, ids),
		tx.RemoveRefusals(ctx, "owner-1", ids))
}
