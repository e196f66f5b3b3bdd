package asset_test

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

// The policy of most tests: a document and two sorts of objects fenced by generation; places without a generation; a part
// that has moved; templates with attributes; nothing at all.
const testPolicy = `
kinds:
  mesh:
    parts:
      description: {document: {collection: descriptions, key: "{id}/{generation}"}}
      payload:     {blobs: {bucket: assets, prefix: "payload/{id}/{generation}/"}}
      thumbnail:   {blobs: {bucket: thumbs, key: "thumbs/{id}/{generation}.png"}}
  scan:
    parts:
      info: {document: {collection: infos}}
      raw:  {blobs: {bucket: scans, prefix: "raw/{id}/"}}
  moved:
    parts:
      body:
        document: {collection: bodies, key: "{id}/{generation}"}
        former:
          - {blobs: {bucket: old, prefix: "body/{id}/{generation}/"}}
          - {blobs: {bucket: assets, key: "body/{id}"}}
  file:
    parts:
      content: {blobs: {bucket: assets, key: "files/{attributes.path|path}/{id}"}}
      note:    {document: {collection: notes}}
  bare: {}
`

const (
	gen1 = "0197b1c0-0000-7000-8000-000000000001"
	gen2 = "0197b1c0-0000-7000-8000-000000000002"
)

// world is the stores, the graph's answers and the bus of one test.
type world struct {
	t         *testing.T
	probe     *memory.Probe
	documents *memory.Documents
	blobs     *memory.Blobs
	ledger    *memory.Ledger
	gate      *gate
	bus       *bus
	now       func() time.Time
	passed    atomic.Int64 // since start, as a time.Duration
	config    asset.Config
	steps     *steps
}

var start = time.Date(2026, 5, 6, 7, 8, 9, 123_456_789, time.UTC)

func newWorld(t *testing.T) *world {
	t.Helper()
	p, err := policy.Parse("test.yaml", []byte(testPolicy))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, steps: &steps{}}
	w.now = func() time.Time { return start.Add(time.Duration(w.passed.Load())) }
	w.probe = &memory.Probe{Before: w.steps.before, After: w.steps.after}
	w.documents, w.blobs, w.ledger = memory.NewDocuments(w.probe), memory.NewBlobs(w.probe), memory.NewLedger(w.probe)
	w.gate, w.bus = &gate{steps: w.steps, wanted: map[string]events.Answer{}}, &bus{steps: w.steps}
	for _, bucket := range p.Buckets() {
		w.blobs.CreateBucket(bucket, memory.Enabled)
	}
	w.config = asset.Config{
		Policy: p, Documents: w.documents, Blobs: w.blobs, Ledger: w.ledger, Gate: w.gate, Publisher: w.bus,
		Now: func() time.Time { return w.now() }, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	return w
}

// command is a deletion's command for one asset, which the graph wants carried out.
func (w *world) command(kind, id, generation string) events.Erase {
	c := w.unwanted(kind, id, generation)
	w.gate.want(c)
	return c
}

// unwanted is a command that the graph knows nothing of.
func (w *world) unwanted(kind, id, generation string) events.Erase {
	return events.Erase{Deletion: "d-" + id + "-" + generation, Asset: id, Kind: kind, Owner: "acme", Generation: generation,
		By: "someone", Reason: "no reason"}
}

// handle gives the command to a new Eraser, as after a start of the process.
func (w *world) handle(c events.Erase) error { return w.attempt(c, 1) }

// attempt lets some time pass when the command is to come again.
func (w *world) attempt(c events.Erase, attempt int) error {
	err := asset.NewEraser(w.config).Handle(w.t.Context(), envelope(), c, attempt)
	if err != nil {
		w.later(time.Minute)
	}
	return err
}

// later lets time pass.
func (w *world) later(d time.Duration) { w.passed.Add(int64(d)) }

func envelope() events.Envelope {
	return events.Envelope{ID: "c1", Source: "/tombstone/dependency", Type: events.TypeErase, Time: start,
		TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
}

// erased handles the command, fails the test unless that succeeds, and gives the evidence.
func (w *world) erased(c events.Erase) []events.PartEvidence {
	w.t.Helper()
	if err := w.handle(c); err != nil {
		w.t.Fatalf("handle: %v", err)
	}
	return w.evidence(c)
}

// evidence is what the last report of an erased asset says.
func (w *world) evidence(c events.Erase) []events.PartEvidence {
	w.t.Helper()
	reports := of[*events.AssetErased](w.bus)
	if len(reports) == 0 {
		w.t.Fatal("no report of an erased asset")
	}
	last := reports[len(reports)-1]
	if last.Deletion != c.Deletion || last.Asset != c.Asset || last.Generation != c.Generation {
		w.t.Errorf("report is of %+v, want %+v", last, c)
	}
	return last.Parts
}

func (w *world) put(bucket, key, content string) {
	w.t.Helper()
	w.steps.quietly(func() {
		if err := w.blobs.Put(w.t.Context(), bucket, key, strings.NewReader(content), int64(len(content))); err != nil {
			w.t.Fatal(err)
		}
	})
}

func (w *world) write(collection, key, generation string) {
	w.t.Helper()
	ref := asset.DocumentRef{Collection: collection, Key: key, Generation: generation, Fenced: strings.Contains(key, generation)}
	w.steps.quietly(func() {
		if err := w.documents.Put(w.t.Context(), ref, map[string]any{"of": key}); err != nil {
			w.t.Fatal(err)
		}
	})
}

// mesh stores a mesh with 1 document, and 6 objects of 12 bytes: versions, a marker, an upload, a thumbnail.
func (w *world) mesh(id, generation string) {
	w.t.Helper()
	below := "payload/" + id + "/" + generation + "/"
	w.write("descriptions", id+"/"+generation, generation)
	w.put("assets", below+"a", "one")
	w.put("assets", below+"a", "three")
	w.put("assets", below+"b/c", "x")
	w.blobs.DeleteCurrent("assets", below+"b/c")
	w.blobs.BeginUpload("assets", below+"d")
	w.put("thumbs", "thumbs/"+id+"/"+generation+".png", "png")
}

// meshEvidence is the truth about such a mesh.
func meshEvidence(generation string) []events.PartEvidence {
	return []events.PartEvidence{
		{Part: "description", Generation: generation, Documents: 1},
		{Part: "payload", Generation: generation, Objects: 5, Bytes: 9},
		{Part: "thumbnail", Generation: generation, Objects: 1, Bytes: 3},
	}
}

// stored tells everything in the stores.
func (w *world) stored() map[string]string {
	all := w.documents.Snapshot()
	maps.Copy(all, w.blobs.Snapshot())
	return all
}

func (w *world) same(what string, got, want any, opts ...cmp.Option) {
	w.t.Helper()
	if diff := cmp.Diff(want, got, append(opts, cmpopts.EquateEmpty())...); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// countsOnly leaves out when and how often.
var countsOnly = cmpopts.IgnoreFields(events.PartEvidence{}, "Attempts", "SeenAbsentAt")

// parked fails the test unless the error parks the command, and gives it.
func (w *world) parked(err error) *saga.Parked {
	w.t.Helper()
	var parked *saga.Parked
	if !errors.As(err, &parked) {
		w.t.Fatalf("handle: %v, want parked", err)
	}
	return parked
}
