package asset_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

func TestAnAssetIsErasedWithTrueEvidence(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	w.mesh("b", gen1)  // another asset
	w.mesh("a", gen2)  // another generation of the same
	w.mesh("a2", gen1) // its id begins like this one's
	before := w.stored()

	c := w.command("mesh", "a", gen1)
	evidence := w.erased(c)
	want := meshEvidence(gen1)
	for i := range want {
		want[i].Attempts, want[i].SeenAbsentAt = 1, start.Truncate(time.Millisecond)
	}
	w.same("evidence", evidence, want)
	w.untouched(before, owned("mesh")...)
	w.same("trace context", w.bus.heads[0].TraceParent, envelope().TraceParent)
}

// untouched fails the test unless exactly what belongs to an asset's generation is gone from the stores.
func (w *world) untouched(before map[string]string, erased ...string) {
	w.t.Helper()
	want := maps.Clone(before)
	maps.DeleteFunc(want, func(name, _ string) bool {
		return slices.ContainsFunc(erased, func(part string) bool { return strings.Contains(name, part) })
	})
	w.same("what is stored", w.stored(), want)
}

// H-57.
func TestDocumentsThenObjectsThenAbsenceThenDoneThenReport(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	c := w.command("mesh", "a", gen1)
	w.erased(c)
	taken := w.steps.names()
	for i, call := range taken {
		if call == "blobs.List" || call == "documents.Exists" {
			taken[i] = "look"
		}
	}
	w.same("calls", slices.Compact(taken), []string{
		"look", "ledger.Open", "gate.Current", "documents.Delete", "blobs.Delete", "look", "ledger.Done", "bus.Publish",
	})
}

// H-59, H-62.
func TestWhatIsAbsentAlreadyIsASuccess(t *testing.T) {
	w := newWorld(t)
	w.same("evidence", w.erased(w.command("mesh", "a", gen1)), []events.PartEvidence{
		{Part: "description", Generation: gen1}, {Part: "payload", Generation: gen1}, {Part: "thumbnail", Generation: gen1},
	}, countsOnly)
	w.same("questions", len(w.gate.questions()), 1)
}

// H-62.
func TestAKindWithoutPartsIsReportedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.same("evidence", w.erased(w.command("bare", "a", gen1)), []events.PartEvidence{})
}

func TestPartsAreErasedInTheirOwnGenerations(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	w.mesh("a", gen2)
	before := w.stored()
	c := w.unwanted("mesh", "a", gen1)
	c.Parts = map[string]string{"payload": gen2}
	w.gate.want(c)
	w.same("evidence", w.erased(c), []events.PartEvidence{{Part: "payload", Generation: gen2, Objects: 5, Bytes: 9}}, countsOnly)
	w.untouched(before, "payload/a/"+gen2)
	w.same("question", w.gate.questions()[0].Parts, c.Parts)
}

func TestFormerPlacesAreErasedToo(t *testing.T) {
	w := newWorld(t)
	w.write("bodies", "a/"+gen1, gen1)
	w.put("old", "body/a/"+gen1+"/x", "12345")
	w.put("old", "body/a/"+gen2+"/x", "stays")
	w.put("assets", "body/a", "123")
	w.put("assets", "body/a", "1")
	w.put("assets", "body/a2", "stays")
	w.same("evidence", w.erased(w.command("moved", "a", gen1)), []events.PartEvidence{
		{Part: "body", Generation: gen1, Documents: 1, Objects: 3, Bytes: 9},
	}, countsOnly)
	w.same("objects that stay", len(w.blobs.Snapshot()), 2)
}

func TestAttributesAreAskedForBeforePlacesAreWorkedOut(t *testing.T) {
	w := newWorld(t)
	w.put("assets", "files/deep/er/a", "x")
	c := w.unwanted("file", "a", gen1)
	w.gate.answer(c, events.Answer{Erase: true, Owner: c.Owner, Kind: c.Kind, Attributes: map[string]any{"path": "deep/er"}})
	w.same("evidence", w.erased(c), []events.PartEvidence{
		{Part: "content", Generation: gen1, Objects: 1, Bytes: 1}, {Part: "note", Generation: gen1},
	}, countsOnly)
	w.same("questions", len(w.gate.questions()), 2)
}

func TestAPlaceThatCannotBeWorkedOutBlocksItsPartAlone(t *testing.T) {
	w := newWorld(t)
	w.write("notes", "a", gen1)
	c := w.unwanted("file", "a", gen1)
	w.gate.answer(c, events.Answer{Erase: true, Owner: c.Owner, Kind: c.Kind, Attributes: map[string]any{"path": "../b"}})
	parked := w.parked(w.handle(c))
	w.same("part", parked.Part, "content")
	w.same("reason", parked.Reason, string(asset.ReasonLocationInvalid))
	w.same("parts erased", len(of[*events.PartErased](w.bus)), 1)
	w.same("documents", w.documents.Snapshot(), map[string]string{})
}

// H-13.
func TestALargePartIsErasedInPages(t *testing.T) {
	w := newWorld(t)
	const n = 2500
	for i := range n {
		w.put("assets", fmt.Sprintf("payload/a/%s/%04d", gen1, i), "xx")
	}
	w.put("assets", "payload/b/"+gen1+"/x", "stays")
	w.same("evidence", w.erased(w.command("mesh", "a", gen1))[1],
		events.PartEvidence{Part: "payload", Generation: gen1, Objects: n, Bytes: 2 * n}, countsOnly)
	w.same("objects that stay", len(w.blobs.Snapshot()), 1)
	w.same("questions", len(w.gate.questions()), 3) // one for each listing that something was deleted from
	if calls := w.probe.Calls("blobs.Delete"); calls != 3 {
		t.Errorf("%d delete calls for %d objects", calls, n)
	}
}

// refs remembers how documents are meant.
type refs struct {
	asset.Documents
	seen []asset.DocumentRef
}

func (r *refs) Delete(ctx context.Context, refs []asset.DocumentRef) []error {
	r.seen = append(r.seen, refs...)
	return r.Documents.Delete(ctx, refs)
}

func TestADocumentIsMeantByItsKeyWhereThatHoldsTheGeneration(t *testing.T) {
	w := newWorld(t)
	r := &refs{Documents: w.documents}
	w.config.Documents = r
	w.write("descriptions", "a/"+gen1, gen1)
	w.write("infos", "b", gen1)
	w.erased(w.command("mesh", "a", gen1))
	w.erased(w.command("scan", "b", gen1))
	w.same("refs", r.seen, []asset.DocumentRef{
		{Collection: "descriptions", Key: "a/" + gen1, IDField: "_id", IDType: policy.IDString, Generation: gen1, Fenced: true},
		{Collection: "infos", Key: "b", IDField: "_id", IDType: policy.IDString, Generation: gen1},
	})
}

// H-60: places come from the policy alone. What attributes and documents refer to elsewhere is not even asked for.
func TestWhatAnAssetRefersToElsewhereIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.blobs.CreateBucket("archive", memory.Enabled)
	w.put("archive", "orig.tif", "stays")
	w.blobs.Block("archive", &asset.Blocked{Reason: asset.ReasonAccessDenied, Detail: "any call fails the test"})
	w.put("assets", "files/deep/a", "x")
	c := w.unwanted("file", "a", gen1)
	w.gate.answer(c, events.Answer{Erase: true, Owner: c.Owner, Kind: c.Kind, Attributes: map[string]any{
		"path": "deep", "original": "s3://archive/orig.tif", "link": "https://example.org/orig.tif"}})
	w.same("evidence", w.erased(c), []events.PartEvidence{
		{Part: "content", Generation: gen1, Objects: 1, Bytes: 1}, {Part: "note", Generation: gen1},
	}, countsOnly)
	w.same("objects that stay", len(w.blobs.Snapshot()), 1)
}
