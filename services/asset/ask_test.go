package asset_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// nothingHappens handles a command and fails the test when anything was changed or reported.
func (w *world) nothingHappens(c events.Erase) {
	w.t.Helper()
	before := w.stored()
	if err := w.handle(c); err != nil {
		w.t.Errorf("handle: %v, want it acknowledged", err)
	}
	w.same("what is stored", w.stored(), before)
	w.same("reports", w.bus.reports, []events.Report{})
	w.same("ends in the ledger", w.probe.Calls("ledger.Done"), 0)
}

func TestWithoutAYesNothingIsErasedOrReported(t *testing.T) {
	for _, kind := range []string{"mesh", "scan", "file"} {
		t.Run(kind+": a forged command for a live asset", func(t *testing.T) {
			w := newWorld(t)
			w.crowd()
			w.nothingHappens(w.unwanted(kind, "a", gen1))
		})
	}
	forge := map[string]func(c *events.Erase){
		"another deletion":           func(c *events.Erase) { c.Deletion = "d-other" },
		"another generation":         func(c *events.Erase) { c.Generation = gen2 },
		"another generation of part": func(c *events.Erase) { c.Parts = map[string]string{"payload": gen2} },
		"another owner":              func(c *events.Erase) { c.Owner = "evil" },
		"another kind":               func(c *events.Erase) { c.Kind = "scan" },
		"another asset":              func(c *events.Erase) { c.Asset = "b" },
	}
	for what, change := range forge {
		t.Run("a true command changed to "+what, func(t *testing.T) {
			w := newWorld(t)
			w.crowd()
			c := w.command("mesh", "a", gen1)
			change(&c)
			w.nothingHappens(c)
		})
	}
}

func TestWithoutAnAnswerNothingIsErasedAndTheCommandComesAgain(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	before := w.stored()
	w.steps.set(func(_ context.Context, m moment) error {
		if m.call.Store == "gate" {
			return errLost
		}
		return nil
	})
	if err := w.handle(w.command("mesh", "a", gen1)); !errors.Is(err, errLost) {
		t.Errorf("handle: %v, want %v", err, errLost)
	}
	w.same("what is stored", w.stored(), before)
	progress := of[*events.PartProgress](w.bus)
	w.same("reports", len(progress), len(w.bus.reports))
	w.same("status", progress[0].Status, events.ProgressRetry)
}

func TestAPausedSystemErasesNothingAndTheCommandComesBack(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	before := w.stored()
	w.gate.paused = true
	parked := w.parked(w.handle(w.command("mesh", "a", gen1)))
	w.same("reason", parked.Reason, string(asset.ReasonPaused))
	if parked.NextTry == nil || !parked.NextTry.After(start) || parked.NextTry.After(start.Add(5*time.Minute)) {
		t.Errorf("next try %v, want soon after %v", parked.NextTry, start)
	}
	w.same("what is stored", w.stored(), before)
	w.same("reports", w.bus.reports, []events.Report{})
}

func TestAStaleCommandOnlyRepeatsItsReport(t *testing.T) {
	w := newWorld(t)
	w.put("scans", "raw/a/x", "old")
	c := w.command("scan", "a", gen1)
	first := w.erased(c)
	w.put("scans", "raw/a/x", "new") // the asset lives again, and its place holds no generation
	w.write("infos", "a", gen2)
	before := w.stored()
	w.steps.names()
	w.now = func() time.Time { return start.Add(time.Hour) }
	w.same("evidence", w.erased(c), first)
	w.same("what is stored", w.stored(), before)
	for _, call := range w.steps.names() {
		if call == "blobs.Delete" || call == "documents.Delete" || call == "gate.Current" {
			t.Errorf("a stale command led to %s", call)
		}
	}
	w.same("id of the message", w.bus.heads[0].ID, w.bus.heads[1].ID)
}

func TestWhatArrivesAfterTheListingNeedsAnotherListingAndAnswer(t *testing.T) {
	arrive := func(w *world) { w.put("scans", "raw/a/late", "late") }
	t.Run("yes again: it goes, and counts", func(t *testing.T) {
		w := newWorld(t)
		w.put("scans", "raw/a/x", "1")
		w.gate.onAsk = func(n int) {
			if n == 1 {
				arrive(w)
			}
		}
		w.same("evidence", w.erased(w.command("scan", "a", gen1))[1],
			events.PartEvidence{Part: "raw", Generation: gen1, Objects: 2, Bytes: 5}, countsOnly)
		w.same("questions", len(w.gate.questions()), 2)
		w.same("what is stored", w.stored(), map[string]string{})
	})
	t.Run("no: it stays, and nothing is reported", func(t *testing.T) {
		w := newWorld(t)
		w.put("scans", "raw/a/x", "1")
		w.gate.onAsk = func(n int) {
			if n == 1 {
				arrive(w)
			} else {
				w.gate.refuse()
			}
		}
		if err := w.handle(w.command("scan", "a", gen1)); err != nil {
			t.Error(err)
		}
		w.same("objects that stay", len(w.stored()), 1)
		w.same("reports", w.bus.reports, []events.Report{})
	})
	t.Run("a document too", func(t *testing.T) {
		w := newWorld(t)
		w.gate.onAsk = func(n int) {
			if n == 1 {
				w.write("infos", "a", gen1)
			}
		}
		w.same("evidence", w.erased(w.command("scan", "a", gen1))[0],
			events.PartEvidence{Part: "info", Generation: gen1, Documents: 1}, countsOnly)
		w.same("what is stored", w.stored(), map[string]string{})
	})
}

// H-63.
func TestAFrozenWorkerThatWakesHarmsNoNewGeneration(t *testing.T) {
	for _, kind := range []string{"mesh", "scan"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			w.crowd()
			c := w.command(kind, "a", gen1)
			var recreated map[string]string
			w.gate.onAsk = func(n int) {
				if n > 1 {
					return
				}
				// The question hangs. Meanwhile another worker erases all, and the asset is created again.
				w.later(time.Minute)
				w.erased(c)
				w.put("scans", "raw/a/x", "new")
				w.write("infos", "a", gen2)
				w.put("assets", "payload/a/"+gen2+"/new", "new")
				recreated = w.stored()
				w.gate.refuse()
			}
			if err := w.handle(c); err != nil {
				t.Error(err)
			}
			w.same("what is stored", w.stored(), recreated)
			w.same("reports", len(w.bus.reports), 1)
		})
	}
}

// TestAYesThatIsLateHarmsNoNewGeneration is the same with a yes that travelled while the asset was created again: what is
// deleted by it is what was listed before, and that is gone.
func TestAYesThatIsLateHarmsNoNewGeneration(t *testing.T) {
	w := newWorld(t)
	w.crowd()
	c := w.command("scan", "a", gen1)
	w.steps.set(func(_ context.Context, m moment) error {
		if m.call.Store != "gate" || !m.after {
			return nil
		}
		w.steps.set(nil)
		w.later(time.Minute)
		w.erased(c)
		w.put("scans", "raw/a/x", "new")
		w.write("infos", "a", gen2)
		w.gate.refuse()
		return nil
	})
	if err := w.handle(c); err != nil {
		t.Error(err)
	}
	w.same("document", w.documents.Snapshot()["{collection:infos field:_id idType:string id:a}"], gen2+` {"of":"a"}`)
	found := 0
	for name, content := range w.blobs.Snapshot() {
		if content == "false new" {
			found++
		} else if len(name) > 15 && name[:16] == "scans {Key:raw/a" && name[16] == '/' {
			t.Errorf("%s is left", name)
		}
	}
	w.same("new objects", found, 1)
	w.same("reports", len(w.bus.reports), 1)
}
