package graphtest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// store is one sort of record: how it is written, and read back by key.
type store[K comparable, R any] struct {
	key  func(R) K
	save func(context.Context, dependency.Tx, []R) error
	load func(context.Context, dependency.Tx, []K) (map[K]R, error)
}

var nodeStore = store[string, dependency.Node]{
	key:  func(n dependency.Node) string { return n.ID },
	save: func(ctx context.Context, tx dependency.Tx, n []dependency.Node) error { return tx.SaveNodes(ctx, n) },
	load: func(ctx context.Context, tx dependency.Tx, ids []string) (map[string]dependency.Node, error) {
		return tx.Nodes(ctx, ids)
	},
}

var deletionStore = store[string, dependency.DeletionRecord]{
	key: func(d dependency.DeletionRecord) string { return d.ID },
	save: func(ctx context.Context, tx dependency.Tx, d []dependency.DeletionRecord) error {
		return tx.SaveDeletions(ctx, d)
	},
	load: func(ctx context.Context, tx dependency.Tx, ids []string) (map[string]dependency.DeletionRecord, error) {
		return tx.Deletions(ctx, ids)
	},
}

var erasureStore = store[dependency.ErasureKey, dependency.Erasure]{
	key: func(e dependency.Erasure) dependency.ErasureKey {
		return dependency.ErasureKey{Deletion: e.Deletion, Asset: e.Asset}
	},
	save: func(ctx context.Context, tx dependency.Tx, e []dependency.Erasure) error {
		return tx.SaveErasures(ctx, e)
	},
	load: func(ctx context.Context, tx dependency.Tx, keys []dependency.ErasureKey) (map[dependency.ErasureKey]dependency.Erasure, error) {
		return tx.Erasures(ctx, keys)
	},
}

var commandStore = store[string, dependency.Command]{
	key: func(c dependency.Command) string { return c.ID },
	save: func(ctx context.Context, tx dependency.Tx, c []dependency.Command) error {
		return tx.SaveCommands(ctx, c)
	},
	load: func(ctx context.Context, tx dependency.Tx, ids []string) (map[string]dependency.Command, error) {
		found, err := tx.Commands(ctx, dependency.CommandFilter{IDs: ids})
		byID := map[string]dependency.Command{}
		for _, c := range found {
			byID[c.ID] = c
		}
		return byID, err
	},
}

// roundTrip saves the records and reads them back, in the same transaction and after it, with keys among them that do
// not exist or come twice.
func (s store[K, R]) roundTrip(t *testing.T, g dependency.Graph, absent K, records ...R) {
	t.Helper()
	want, keys := map[K]R{}, []K{absent}
	for _, r := range records {
		want[s.key(r)] = r
		keys = append(keys, s.key(r))
	}
	keys = append(keys, keys[len(keys)-1])
	var own map[K]R
	update(t, g, func(ctx context.Context, tx dependency.Tx) (err error) {
		if err := s.save(ctx, tx, records); err != nil {
			return err
		}
		own, err = s.load(ctx, tx, keys)
		return err
	})
	same(t, want, own)
	same(t, want, read(t, g, func(ctx context.Context, tx dependency.Tx) (map[K]R, error) { return s.load(ctx, tx, keys) }))
}

// replaced saves a full record and then a bare one with the same key: nothing of the first may shine through.
func (s store[K, R]) replaced(t *testing.T, g dependency.Graph, absent K, full, bare R) {
	t.Helper()
	s.roundTrip(t, g, absent, full)
	s.roundTrip(t, g, absent, bare)
	s.roundTrip(t, g, absent, full)
}

func testRecords(t *testing.T, g dependency.Graph) {
	t.Run("nodes come back as they were saved", func(t *testing.T) {
		full, bare := fullNode(), dependency.Node{ID: "n", Status: dependency.Live}
		nodeStore.replaced(t, g, "absent", full, bare)
	})
	t.Run("odd ids are kept byte for byte", func(t *testing.T) {
		var all []dependency.Node
		for _, id := range oddIDs {
			n := node(id, id)
			n.Kind, n.Attributes = id, map[string]any{id: id}
			all = append(all, n)
		}
		nodeStore.roundTrip(t, g, "plain  ", all...)
		testOddLinks(t, g)
	})
	t.Run("attributes are any JSON", func(t *testing.T) { testAttributes(t, g) })
	t.Run("deletions come back as they were saved", func(t *testing.T) {
		full := fullDeletion()
		deletionStore.replaced(t, g, newID(), full, dependency.DeletionRecord{ID: full.ID, Status: dependency.Scheduled})
	})
	t.Run("erasures come back as they were saved", func(t *testing.T) { testErasureRecords(t, g) })
	t.Run("commands come back as they were saved", func(t *testing.T) { testCommandRecords(t, g) })
	t.Run("times are exact to the microsecond", func(t *testing.T) { testTimes(t, g) })
	t.Run("a thousand records go in one call", func(t *testing.T) {
		nodeStore.roundTrip(t, g, "absent", nodes("bulk", "bulk", 2500)...)
	})
	t.Run("of one record saved twice in a call the last one stands", func(t *testing.T) {
		first, last := node("twice", "first"), node("twice", "last")
		save(t, g, first, last)
		nodeStore.roundTrip(t, g, "absent", last)
	})
}

func fullNode() dependency.Node {
	return dependency.Node{
		ID: "n", Kind: "mesh", Owner: "acme", Generation: newID(), Status: dependency.Deleting,
		Attributes: map[string]any{"state": "done"}, Bytes: math.MaxInt64, CreatedAt: at(1), UpdatedAt: at(2),
		Hold: &dependency.Hold{By: "ann", Reason: "case 7", At: at(3)}, Deletion: newID(), RequestedAt: at(4), DueAt: at(5),
		GrantedUntil: at(7), Lease: &dependency.Lease{TokenHash: "5e1f", Until: at(8)},
		Parts: map[string]dependency.PartState{
			"payload": {Status: dependency.PartErased, Generation: newID(), Deletion: newID(), ErasedAt: ptr(at(6)), Reason: "re-baked 🪦"},
			"preview": {Status: dependency.PartErasing, Generation: newID(), Deletion: newID(), Before: newID(), Open: []string{newID(), newID()}},
		},
		Sequence: 9_007_199_254_740_993, // not a float64
	}
}

func fullDeletion() dependency.DeletionRecord {
	return dependency.DeletionRecord{
		ID: newID(), Root: oddIDs[9], Owner: "acme", Parts: []string{"payload", "preview"}, Status: dependency.Deleting, RequestedBy: "ann",
		Reason: "line one\nline \"two\" 🪦\x00after NUL", TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Batch: newID(), Policy: "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef", RequestedAt: at(1), DueAt: at(2),
		SentAt: at(3), CompletedAt: at(4), Total: 10_000, Done: 9_999,
		Blocked: &dependency.Blocked{Asset: "a", Part: "payload", Reason: "object lock", Until: ptr(at(5))},
	}
}

func fullErasure(deletion, asset string) dependency.Erasure {
	return dependency.Erasure{
		Deletion: deletion, Asset: asset, Position: 7, Kind: "mesh", Owner: "acme", Generation: newID(), Why: "PART_OF layer 7",
		Parts: map[string]string{"payload": newID(), "preview": newID()}, Done: true, CheckAt: at(1), Rechecks: 3,
		Steps: []dependency.Step{
			{Part: "payload", Generation: newID(), Status: dependency.StepBlocked, Documents: 1, Objects: 1 << 40, Bytes: math.MaxInt64,
				Attempts: 12, LastError: "503 \"slow down\"", NextTry: ptr(at(2)), ErasedAt: ptr(at(3)), Forced: "bucket is gone"},
			{Part: "preview", Generation: newID(), Status: dependency.StepWaiting},
		},
	}
}

func testErasureRecords(t *testing.T, g dependency.Graph) {
	d := deletion("n", "acme", dependency.Deleting)
	save(t, g, node("n", "acme"), d)
	absent := dependency.ErasureKey{Deletion: d.ID, Asset: "absent"}
	bare := dependency.Erasure{Deletion: d.ID, Asset: "n"}
	erasureStore.replaced(t, g, absent, fullErasure(d.ID, "n"), bare)
	var odd []dependency.Erasure
	for i, id := range oddIDs {
		odd = append(odd, erasure(d.ID, id, 100+i))
	}
	save(t, g, anys(oddNodes())...)
	erasureStore.roundTrip(t, g, absent, odd...)
}

// oddNodes are assets with all odd ids.
func oddNodes() (all []dependency.Node) {
	for _, id := range oddIDs {
		all = append(all, node(id, "odd"))
	}
	return all
}

func testCommandRecords(t *testing.T, g dependency.Graph) {
	d := deletion("n", "acme", dependency.Deleting)
	save(t, g, node("n", "acme"), d, erasure(d.ID, "n", 0))
	full := dependency.Command{ID: newID(), Deletion: d.ID, Asset: "n", DueAt: at(1), Since: at(2), ClaimedBy: "replica-1", ClaimedUntil: at(3), Replace: true, Cause: "resend"}
	commandStore.replaced(t, g, newID(), full, dependency.Command{ID: full.ID, Deletion: d.ID, Asset: "n"})
}

func testAttributes(t *testing.T, g dependency.Graph) {
	values := map[string]any{
		"null": nil, "true": true, "empty": "", "text": "a\nb\t\"c\" \\ 🪦 \u2028 <&>", "zero": 0.0, "integer": 42.0, "negative": -1.5,
		"largest exact integer": float64(1 << 53), "large": 1e21, "huge": math.MaxFloat64, "tiny": math.SmallestNonzeroFloat64, "tenth": 0.1,
		"date": "2026-01-31T00:00:00Z", "empty list": []any{}, "empty object": map[string]any{}, "mixed": []any{1.0, "1", true, nil, []any{[]any{}}},
		"nested": map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": "d"}}}}, "": "no name", "a.b": "dot", "a`b\"c": "quotes", "🪦": "name",
		"long": strings.Repeat("🪦long", 20_000),
	}
	all := []dependency.Node{}
	for name, value := range values {
		n := node("attribute "+name, "acme")
		n.Attributes = map[string]any{name: value}
		all = append(all, n)
	}
	together, none, empty := node("attributes", "acme"), node("none", "acme"), node("empty", "acme")
	together.Attributes, empty.Attributes = values, map[string]any{}
	nodeStore.roundTrip(t, g, "absent", append(all, together, none, empty)...)
}

func testTimes(t *testing.T, g dependency.Graph) {
	times := []time.Time{
		{}, time.Unix(0, 0).UTC(), time.UnixMicro(-1).UTC(), time.UnixMicro(1).UTC(), at(1),
		time.Date(1969, 7, 20, 20, 17, 40, 123_456_000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
	}
	var all []dependency.DeletionRecord
	for _, when := range times {
		d := deletion(fmt.Sprint(when), "acme", dependency.Deleted)
		d.RequestedAt, d.DueAt, d.SentAt, d.CompletedAt = when, when, when, when
		all = append(all, d)
	}
	deletionStore.roundTrip(t, g, newID(), all...)
	elsewhere := time.FixedZone("elsewhere", -9*3600-1800)
	want := deletion("zone", "acme", dependency.Deleted)
	local := want
	local.RequestedAt, local.DueAt = want.RequestedAt.In(elsewhere), want.DueAt.In(elsewhere)
	save(t, g, local)
	got := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.DeletionRecord, error) {
		return tx.Deletions(ctx, []string{want.ID})
	})
	same(t, map[string]dependency.DeletionRecord{want.ID: want}, got)
}

func testOddLinks(t *testing.T, g dependency.Graph) {
	save(t, g, node("hub", "acme"))
	var out, in []dependency.Link
	for _, id := range oddIDs {
		out = append(out, link("hub", needs, id))
		in = append(in, link(id, needs, "hub"))
	}
	save(t, g, append(anys(out), anys(in)...)...)
	got := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Link, error) {
		return tx.Outgoing(ctx, []string{"hub"})
	})
	same(t, len(out), len(got))
	same(t, linkSet(out), linkSet(got))
	got = read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Link, error) {
		return tx.Outgoing(ctx, oddIDs)
	})
	same(t, linkSet(in), linkSet(got))
	found := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Dependants, error) {
		return tx.Dependants(ctx, []string{"hub"}, []string{needs}, len(oddIDs))
	})
	sameSet(t, oddIDs, found["hub"].First)
}

func linkSet(links []dependency.Link) map[dependency.Link]bool {
	set := map[dependency.Link]bool{}
	for _, l := range links {
		set[l] = true
	}
	return set
}
