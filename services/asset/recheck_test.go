package asset_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

// again is the command of a later look at an asset of "acme"; the graph names these parts.
func (w *world) again(kind, id, generation string, only ...string) events.Erase {
	c := w.unwanted(kind, id, generation)
	c.Recheck = 1
	w.naming(only...)
	return c
}

// naming makes the graph name these parts from now on.
func (w *world) naming(only ...string) {
	w.gate.recheck = func(q events.Question) events.Answer {
		for _, kind := range []string{"mesh", "scan", "file", "gone"} {
			if strings.HasPrefix(q.Asset, kind) {
				return events.Answer{Erase: true, Owner: "acme", Kind: kind, Only: only, Attributes: map[string]any{"path": "p"}}
			}
		}
		return events.Answer{Why: "unknown"}
	}
}

func TestWhatLandedLateIsFoundAndRemoved(t *testing.T) {
	w := newWorld(t)
	w.mesh("mesh-1", gen2) // the next generation
	w.mesh("mesh-10", gen1)
	before := w.stored()
	w.mesh("mesh-1", gen1)
	c := w.again("mesh", "mesh-1", gen1, "description", "payload", "thumbnail")
	w.same("evidence", w.erased(c), meshEvidence(gen1), countsOnly)
	w.same("what is left", w.stored(), before)
	w.same("evidence of a repeat", w.erased(c), meshEvidence(gen1), countsOnly)
	reports := of[*events.AssetErased](w.bus)
	if len(reports) != 2 || reports[0].Recheck != 1 || w.bus.heads[0].ID != w.bus.heads[1].ID {
		t.Errorf("reports: %+v", reports)
	}
	c.Recheck = 2
	none := []events.PartEvidence{{Part: "description", Generation: gen1}, {Part: "payload", Generation: gen1}, {Part: "thumbnail", Generation: gen1}}
	w.same("evidence of the next look", w.erased(c), none, countsOnly)
}

func TestALookThatFindsNothingWritesNothing(t *testing.T) {
	w := newWorld(t)
	c := w.again("mesh", "mesh-1", gen1, "payload")
	w.same("evidence", w.erased(c), []events.PartEvidence{{Part: "payload", Generation: gen1}}, countsOnly)
	w.same("records of the ledger", w.probe.Calls("ledger.Open")+w.probe.Calls("ledger.Page")+w.probe.Calls("ledger.Done"), 0)
	w.same("deletes", w.probe.Calls("documents.Delete")+w.probe.Calls("blobs.Delete"), 0)
}

func TestALookThatIsOverDoesNothingAndSaysNothing(t *testing.T) {
	w := newWorld(t)
	w.mesh("mesh-1", gen1)
	before := w.stored()
	c := w.again("mesh", "mesh-1", gen1)
	w.gate.recheck = nil
	if err := w.handle(c); err != nil {
		t.Error(err)
	}
	w.same("what is left", w.stored(), before)
	w.same("reports", len(w.bus.reports), 0)
}

func TestOnlyTheNamedPartsAreTakenEvenIfTheGraphChangesItsMind(t *testing.T) {
	w := newWorld(t)
	w.mesh("mesh-1", gen1)
	c := w.again("mesh", "mesh-1", gen1, "description", "payload")
	w.gate.onAsk = func(n int) {
		if n == 2 { // between the listing and the first delete
			w.naming("description")
		}
	}
	w.same("evidence", w.erased(c), meshEvidence(gen1)[:1], countsOnly)
	left := fmt.Sprint(w.stored())
	if strings.Contains(left, "descriptions") || !strings.Contains(left, "payload/mesh-1/"+gen1+"/a") || !strings.Contains(left, "thumbs/mesh-1") {
		t.Errorf("left: %s", left)
	}
}

// TestALateLookTakesNothingThatMayBeSomebodyElses: where the place does not hold the generation, nobody is kept from using it
// any more, so only what cannot be exchanged between the listing and the delete goes.
func TestALateLookTakesNothingThatMayBeSomebodyElses(t *testing.T) {
	w := newWorld(t)
	w.put("scans", "raw/scan-1/x", "has a version id")
	w.write("infos", "scan-1", gen1)
	c := w.again("scan", "scan-1", gen1, "info", "raw")
	w.same("evidence", w.erased(c), []events.PartEvidence{
		{Part: "info", Generation: gen1, Documents: 1}, {Part: "raw", Generation: gen1, Objects: 1, Bytes: 16},
	}, countsOnly)
	w.same("what is left", w.stored(), map[string]string{})

	w = newWorld(t)
	w.blobs.CreateBucket("scans", memory.Suspended)
	w.put("scans", "raw/scan-1/x", "null version")
	w.documents.Adopt(asset.DocumentRef{Collection: "infos", Key: "scan-1"}, map[string]any{"from": "others"})
	upload := w.blobs.BeginUpload("scans", "raw/scan-1/y")
	before := w.stored()
	c = w.again("scan", "scan-1", gen1, "info", "raw")
	evidence := w.erased(c)
	if len(evidence) != 2 || evidence[0].Documents != 0 || evidence[1].Objects != 1 {
		t.Errorf("evidence: %+v", evidence)
	}
	for key := range before {
		if strings.Contains(key, upload) {
			delete(before, key)
		}
	}
	w.same("what is left", w.stored(), before)
}

func TestALookAtWhatThePolicyNoLongerHasIsOver(t *testing.T) {
	w := newWorld(t)
	w.same("evidence of a kind that is gone", w.erased(w.again("gone", "gone-1", gen1)), []events.PartEvidence{})
	w.same("evidence of a part that is gone", w.erased(w.again("mesh", "mesh-1", gen1, "sound")), []events.PartEvidence{})
}

func TestABucketThatIsGoneHoldsNothing(t *testing.T) {
	w := newWorld(t)
	w.blobs.Block("assets", &asset.Blocked{Reason: asset.ReasonBucketMissing})
	w.same("evidence", w.erased(w.again("mesh", "mesh-1", gen1, "payload")), []events.PartEvidence{{Part: "payload", Generation: gen1}}, countsOnly)
}

func TestALookThatCannotGoOnIsPutOffAsAWhole(t *testing.T) {
	w := newWorld(t)
	w.mesh("mesh-1", gen1)
	w.blobs.Block("assets", &asset.Blocked{Reason: asset.ReasonAccessDenied})
	c := w.again("mesh", "mesh-1", gen1, "description", "payload")
	parked := w.parked(w.handle(c))
	w.same("reports of parts", len(of[*events.PartErased](w.bus)), 0)
	payload, err := events.Encode(envelope(), c)
	if err != nil {
		t.Fatal(err)
	}
	o := saga.Outcome{Part: parked.Part, Reason: parked.Reason, Err: parked, Blocked: true, NextTry: start.Add(time.Hour), Attempt: 3}
	if err := asset.NewEraser(w.config).Park(t.Context(), saga.Message{Data: payload}, o); err != nil {
		t.Fatal(err)
	}
	progress := of[*events.PartProgress](w.bus)
	if last := progress[len(progress)-1]; last.Recheck != 1 || last.Part != "payload" || last.NextTry == nil {
		t.Errorf("progress: %+v", last)
	}
	w.blobs.Block("assets", nil)
	w.same("evidence once it goes on", w.erased(c), meshEvidence(gen1)[:2], countsOnly)
}

// TestACrashInALaterLookLosesNothingOfItsEvidence kills the process before and after each call of each port.
func TestACrashInALaterLookLosesNothingOfItsEvidence(t *testing.T) {
	moments := 0
	for dies := 0; dies <= moments; dies++ {
		w := newWorld(t)
		w.mesh("mesh-2", gen1)
		before := w.stored()
		w.mesh("mesh-1", gen1)
		c := w.again("mesh", "mesh-1", gen1, "description", "payload", "thumbnail")
		w.steps.dieAt(dies)
		err := w.handle(c)
		if dies == 0 {
			moments = w.steps.moments
		} else if err == nil && len(of[*events.AssetErased](w.bus)) == 0 {
			t.Fatalf("dead at moment %d, and acknowledged without a report", dies)
		}
		w.steps.dieAt(0)
		w.same(fmt.Sprint("evidence after a crash at moment ", dies), w.erased(c), meshEvidence(gen1), countsOnly)
		w.same("what is left", w.stored(), before)
	}
	if moments < 15 {
		t.Errorf("only %d moments", moments)
	}
}
