package dependency_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

const policyText = `
links:
  DEPENDS_ON: {on_target_delete: restrict}
  NEEDS: {on_target_delete: restrict}
  PART_OF: {on_target_delete: cascade}
resend_after: 10m
quotas: {owners: {small: {assets: 2, bytes: 100}}}
kinds:
  item:
    parts:
      note: {document: {collection: notes, key: "{id}/{generation}"}}
      payload: {blobs: {bucket: assets, prefix: "payload/{id}/{generation}/"}}
  bare: {}
  slow:
    grace: 1h
    parts:
      note: {document: {collection: slownotes}}
  patient:
    grace: 1h
    parts:
      payload: {blobs: {bucket: assets, prefix: "patient/{id}/{generation}/"}}
  file:
    parts:
      content: {blobs: {bucket: files, key: "{attributes.key|path}"}}
`

// bench is a service on an empty SQLite graph, with a clock of its own and a record of what it handed to the relays.
type bench struct {
	*dependency.Service
	t     *testing.T
	graph dependency.Graph
	ctx   context.Context // an operator's

	mu       sync.Mutex
	clock    time.Time
	commands []saga.Flag
	events   []saga.Flag
}

func newBench(t *testing.T) *bench {
	t.Helper()
	g, err := sqlite.Open(t.TempDir() + "/graph.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(context.Background()) })
	return benchOn(t, g, policyText)
}

func benchOn(t *testing.T, g dependency.Graph, text string) *bench {
	t.Helper()
	return benchWith(t, g, text, func(*dependency.Config) {})
}

func benchWith(t *testing.T, g dependency.Graph, text string, change func(*dependency.Config)) *bench {
	t.Helper()
	b := &bench{t: t, graph: g, clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		ctx: dependency.WithCaller(t.Context(), dependency.Caller{Subject: "olga", Owner: "acme", Operator: true})}
	cfg := dependency.Config{Graph: g, Policy: parse(t, text), Now: b.now,
		SendCommands: func(f []saga.Flag) { b.mu.Lock(); defer b.mu.Unlock(); b.commands = append(b.commands, f...) },
		SendEvents:   func(f []saga.Flag) { b.mu.Lock(); defer b.mu.Unlock(); b.events = append(b.events, f...) }}
	change(&cfg)
	var err error
	b.Service, err = dependency.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *bench) now() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.clock }

func (b *bench) advance(d time.Duration) { b.mu.Lock(); defer b.mu.Unlock(); b.clock = b.clock.Add(d) }

// as is the context of another caller.
func (b *bench) as(owner string) context.Context {
	return dependency.WithCaller(b.t.Context(), dependency.Caller{Subject: owner + "-user", Owner: owner})
}

func (b *bench) create(kind, id string, links ...dependency.LinkTo) dependency.Asset {
	b.t.Helper()
	a, outcome, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: kind, Links: &links})
	if err != nil || outcome != dependency.Created {
		b.t.Fatalf("create %q: %v, %v", id, outcome, err)
	}
	return a
}

func needs(to string) dependency.LinkTo { return dependency.LinkTo{Type: "DEPENDS_ON", To: to} }

func (b *bench) del(id string) dependency.Deletion {
	b.t.Helper()
	d, err := b.Delete(b.ctx, id, dependency.DeleteRequest{Reason: "test"})
	if err != nil {
		b.t.Fatalf("delete %q: %v", id, err)
	}
	return d
}

func (b *bench) asset(id string) dependency.Asset {
	b.t.Helper()
	a, err := b.Asset(b.ctx, id)
	if err != nil {
		b.t.Fatalf("read %q: %v", id, err)
	}
	return a
}

func (b *bench) deletion(id string) dependency.Deletion {
	b.t.Helper()
	d, err := b.Deletion(b.ctx, id, "")
	if err != nil {
		b.t.Fatalf("read deletion %s: %v", id, err)
	}
	return d
}

// erasedParts is the report that the parts of one asset are gone, all in the asset's generation.
func (b *bench) erasedParts(d dependency.Deletion, asset string, parts ...string) {
	b.t.Helper()
	r := events.AssetErased{Deletion: d.ID, Asset: asset, Generation: b.asset(asset).Generation}
	for _, part := range parts {
		r.Parts = append(r.Parts, events.PartEvidence{Part: part, Generation: r.Generation, Attempts: 1, SeenAbsentAt: b.now()})
	}
	b.report(events.TypeAssetErased, r)
}

// erased is the report that completes one asset of a deletion.
func (b *bench) erased(d dependency.Deletion, asset, generation string) {
	b.t.Helper()
	r := events.AssetErased{Deletion: d.ID, Asset: asset, Generation: generation, Parts: []events.PartEvidence{}}
	for _, s := range b.deletion(d.ID).Steps {
		if s.Asset == asset {
			r.Parts = append(r.Parts, events.PartEvidence{Part: s.Part, Generation: s.Generation, Documents: 1, Objects: 2, Bytes: 10, Attempts: 1,
				SeenAbsentAt: b.now()})
		}
	}
	b.report(events.TypeAssetErased, r)
}

func (b *bench) report(kind string, data any) {
	b.t.Helper()
	payload, err := events.Encode(events.Envelope{ID: "r", Source: "/tombstone/asset", Type: kind, Time: b.now()}, data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.HandleReport(b.t.Context(), saga.Message{Data: payload}, 1); err != nil {
		b.t.Fatalf("report %s: %v", payload, err)
	}
}

// trail lists the types of an asset's entries and checks that the sequence is dense.
func (b *bench) trail(asset string) (types []string) {
	b.t.Helper()
	err := b.graph.View(b.t.Context(), func(tx dependency.Tx) error {
		entries, err := tx.Trail(b.t.Context(), asset, 0, 1000)
		types = nil
		for i, e := range entries {
			if e.Sequence != int64(i+1) {
				b.t.Errorf("sequence of entry %d of %q: %d", i+1, asset, e.Sequence)
			}
			types = append(types, e.Type)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return types
}

func (b *bench) usage(owner string) (u dependency.Usage) {
	b.t.Helper()
	err := b.graph.View(b.t.Context(), func(tx dependency.Tx) error {
		m, err := tx.Usage(b.t.Context(), []string{owner})
		u = m[owner]
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

func (b *bench) flags() (list []dependency.Command) {
	b.t.Helper()
	err := b.graph.View(b.t.Context(), func(tx dependency.Tx) (err error) {
		list, err = tx.Commands(b.t.Context(), dependency.CommandFilter{Limit: 1000})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// refused fails the test unless err is the refusal of that name.
func refused(t *testing.T, err error, name problem.Name) *problem.Problem {
	t.Helper()
	p := problem.As(err)
	if p == nil || p.Name != name {
		t.Fatalf("want the refusal %s, got %v", name, err)
	}
	return p
}

func pretty(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// tryPolicy prepares a service with another policy on the same graph.
func tryPolicy(t *testing.T, g dependency.Graph, text string) error {
	t.Helper()
	s, err := dependency.New(dependency.Config{Graph: g, Policy: parse(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	return s.Prepare(t.Context())
}
