package asset_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/events"
)

// TestACrashAtAnyMomentEndsRight kills the process before and after each call of each port, and then lets the command come
// again.
// H-57.
func TestACrashAtAnyMomentEndsRight(t *testing.T) {
	for _, kind := range []string{"mesh", "scan", "moved"} {
		t.Run(kind, func(t *testing.T) {
			moments := 0
			for dies := 0; dies <= moments; dies++ {
				w := newWorld(t)
				w.crowd()
				before := w.stored()
				c := w.command(kind, "a", gen1)
				w.steps.dieAt(dies)
				err := w.handle(c)
				if dies == 0 { // a run without a crash tells how many moments there are
					moments = w.steps.moments
				} else if err == nil && len(of[*events.AssetErased](w.bus)) == 0 {
					t.Fatalf("dead at moment %d, and acknowledged without a report", dies)
				}
				w.steps.dieAt(0)
				w.same(fmt.Sprint("evidence after a crash at moment ", dies), w.erased(c), crowdEvidence(kind), countsOnly)
				w.untouched(before, owned(kind)...)
			}
			if moments < 15 {
				t.Errorf("only %d moments", moments)
			}
		})
	}
}

// crowd stores one asset of each kind, and neighbours that begin like it.
func (w *world) crowd() {
	for _, id := range []string{"a", "a2", "b"} {
		for _, generation := range []string{gen1, gen2} {
			w.mesh(id, generation)
			w.write("bodies", id+"/"+generation, generation)
			w.put("old", "body/"+id+"/"+generation+"/x", "12345")
		}
		w.put("assets", "body/"+id, "123")
		w.write("infos", id, gen1)
		w.put("scans", "raw/"+id+"/x", "1")
		w.put("scans", "raw/"+id+"/x", "22")
		w.blobs.DeleteCurrent("scans", "raw/"+id+"/x")
	}
}

// crowdEvidence is the truth about asset "a" of the crowd.
func crowdEvidence(kind string) []events.PartEvidence {
	switch kind {
	case "scan":
		return []events.PartEvidence{{Part: "info", Generation: gen1, Documents: 1}, {Part: "raw", Generation: gen1, Objects: 3, Bytes: 3}}
	case "moved":
		return []events.PartEvidence{{Part: "body", Generation: gen1, Documents: 1, Objects: 2, Bytes: 8}}
	}
	return meshEvidence(gen1)
}

// owned are parts of the names of what belongs to asset "a" of the crowd.
func owned(kind string) []string {
	switch kind {
	case "scan":
		return []string{"{collection:infos field:_id idType:string id:a}", "scans {Key:raw/a/"}
	case "moved":
		return []string{"{collection:bodies field:_id idType:string id:a/" + gen1, "old {Key:body/a/" + gen1, "assets {Key:body/a "}
	}
	return []string{"{collection:descriptions field:_id idType:string id:a/" + gen1, "assets {Key:payload/a/" + gen1, "thumbs {Key:thumbs/a/" + gen1}
}

// TestManyCrashesOfALargeEraseEndRight kills the process again and again in the middle of an erase of several pages.
func TestManyCrashesOfALargeEraseEndRight(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		n := rapid.IntRange(900, 2300).Draw(r, "objects")
		kind, bucket, below := "mesh", "assets", "payload/a/"+gen1+"/"
		if rapid.Bool().Draw(r, "without generation") {
			kind, bucket, below = "scan", "scans", "raw/a/"
		}
		for i := range n {
			w.put(bucket, fmt.Sprintf("%s%04d", below, i), "xx")
		}
		w.put(bucket, "neighbour", "stays")
		c := w.command(kind, "a", gen1)
		for _, dies := range rapid.SliceOfN(rapid.IntRange(1, 40), 0, 6).Draw(r, "crashes") {
			w.steps.dieAt(dies)
			if err := w.handle(c); err == nil && len(of[*events.AssetErased](w.bus)) == 0 {
				r.Fatalf("acknowledged without a report")
			}
		}
		w.steps.dieAt(0)
		var objects, bytes int64
		for _, part := range w.erased(c) {
			objects, bytes = objects+part.Objects, bytes+part.Bytes
		}
		if objects != int64(n) || bytes != 2*int64(n) || len(w.blobs.Snapshot()) != 1 {
			r.Fatalf("%d objects of %d bytes counted, %d left; want %d, %d, 1", objects, bytes, len(w.blobs.Snapshot()), n, 2*n)
		}
	})
}

// H-05, H-14.
func TestTwoWorkersWithOneCommandAgree(t *testing.T) {
	w := newWorld(t)
	w.crowd()
	before := w.stored()
	c := w.command("scan", "a", gen1)
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- w.handle(c) }()
	}
	for range 2 {
		if err := <-done; err != nil { // nothing is there any more, and the other may be deleting still
			w.erased(c)
		}
	}
	for _, report := range of[*events.AssetErased](w.bus) {
		w.same("evidence", report.Parts, crowdEvidence("scan"), countsOnly)
	}
	w.untouched(before, owned("scan")...)
}

func TestWhatArrivesDuringAnInterruptionCountsWhereThePlaceHoldsNoGeneration(t *testing.T) {
	w := newWorld(t)
	w.put("scans", "raw/a/first", "1")
	c := w.command("scan", "a", gen1)
	w.steps.set(func(_ context.Context, m moment) error { // dies once the first is deleted
		if m.call.Store+"."+m.call.Method == "blobs.Delete" && m.after {
			w.steps.dieAt(1)
			return errLost
		}
		return nil
	})
	if err := w.handle(c); err == nil {
		t.Fatal("no crash")
	}
	w.steps.dieAt(0)
	w.put("scans", "raw/a/second", "22")
	w.same("evidence", w.erased(c)[1], events.PartEvidence{Part: "raw", Generation: gen1, Objects: 2, Bytes: 3}, countsOnly)
}

func TestALostLedgerHarmsNobody(t *testing.T) {
	w := newWorld(t)
	w.crowd()
	before := w.stored()
	c := w.command("scan", "a", gen1)
	w.erased(c)
	w.untouched(before, owned("scan")...)
	w.ledger.Lose()
	w.put("scans", "raw/a/x", "new") // created again since
	w.gate.refuse()
	before = w.stored()
	if err := w.handle(c); err != nil {
		t.Error(err)
	}
	w.same("what is stored", w.stored(), before)
	w.same("reports", len(w.bus.reports), 1)
}
