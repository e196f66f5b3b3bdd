package asset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset"
)

func TestABlockedBucketParksItsPartAndTheOthersGo(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	c := w.command("mesh", "a", gen1)
	w.blobs.Block("assets", &asset.Blocked{Reason: asset.ReasonAccessDenied, Detail: "assets"})
	parked := w.parked(w.handle(c))
	w.same("part", parked.Part, "payload")
	w.same("reason", parked.Reason, "access-denied")
	w.same("parts erased", partsOf(of[*events.PartErased](w.bus)), []string{"description", "thumbnail"})
	w.same("assets erased", len(of[*events.AssetErased](w.bus)), 0)
	w.same("documents", w.documents.Snapshot(), map[string]string{})

	w.blobs.Block("assets", nil)
	w.same("evidence once it is lifted", w.erased(c), meshEvidence(gen1), countsOnly)
	w.same("what is stored", w.stored(), map[string]string{})
}

func partsOf(reports []*events.PartErased) []string {
	var parts []string
	for _, r := range reports {
		parts = append(parts, r.Part)
	}
	slices.Sort(parts)
	return parts
}

func TestWhatIsParkedIsReportedWithItsNextTry(t *testing.T) {
	w := newWorld(t)
	c := w.command("mesh", "a", gen1)
	message := w.message(c)
	next, until := start.Add(time.Hour).UTC(), start.Add(2*time.Hour).UTC()
	for _, test := range []struct {
		outcome saga.Outcome
		want    events.PartProgress
	}{
		{
			saga.Outcome{Attempt: 3, Blocked: true, Part: "payload", Reason: "object-locked", Until: &until, NextTry: next, Err: errLost},
			events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "object-locked", Until: &until, NextTry: &next, Attempts: 3, LastError: errLost.Error()},
		},
		{
			saga.Outcome{Attempt: 9, NextTry: next, Err: errLost},
			events.PartProgress{Status: events.ProgressRetry, NextTry: &next, Attempts: 9, LastError: errLost.Error()},
		},
		{
			saga.Outcome{Attempt: 1, Blocked: true, Reason: "paused", NextTry: next, Err: &saga.Parked{Reason: "paused"}},
			events.PartProgress{Status: events.ProgressRetry, Reason: "paused", NextTry: &next, Attempts: 1, LastError: "parked: paused"},
		},
		{
			saga.Outcome{
				Attempt: 1, Blocked: true, Part: "payload", Reason: "object-locked", NextTry: next,
				Err: &saga.Parked{Part: "payload", Reason: "object-locked", Err: &asset.Blocked{Reason: asset.ReasonObjectLocked, Detail: "until March"}},
			},
			events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "object-locked", NextTry: &next, Attempts: 1, LastError: "object-locked: until March (cure: wait, or lift the lock)"},
		},
	} {
		if err := asset.NewEraser(w.config).Park(t.Context(), message, test.outcome); err != nil {
			t.Fatal(err)
		}
		test.want.Deletion, test.want.Asset, test.want.Generation = c.Deletion, c.Asset, c.Generation
		progress := of[*events.PartProgress](w.bus)
		w.same("progress", *progress[len(progress)-1], test.want)
	}
	w.steps.dieAt(1)
	if err := asset.NewEraser(w.config).Park(t.Context(), message, saga.Outcome{NextTry: next}); !errors.Is(err, errLost) {
		t.Errorf("a report that the bus did not take: %v, want %v", err, errLost)
	}
}

// message is the command as it travels.
func (w *world) message(c events.Erase) saga.Message {
	w.t.Helper()
	data, err := events.Encode(envelope(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return saga.Message{Subject: events.Names{}.Command(c.Deletion, c.Asset), Data: data}
}

func TestAMessageIsReadAndHandled(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	c := w.command("mesh", "a", gen1)
	if err := asset.NewEraser(w.config).HandleMessage(t.Context(), w.message(c), 4); err != nil {
		t.Fatal(err)
	}
	w.same("attempts", w.evidence(c)[0].Attempts, 4)
	again := w.command("mesh", "b", gen1)
	again.Tried = 12
	message := w.message(again)
	if err := asset.NewEraser(w.config).HandleMessage(t.Context(), message, 3); err != nil {
		t.Fatal(err)
	}
	w.same("attempts with those of earlier commands", w.evidence(again)[0].Attempts, 15)
	if err := asset.NewEraser(w.config).Park(t.Context(), message, saga.Outcome{Attempt: 3, NextTry: start}); err != nil {
		t.Fatal(err)
	}
	progress := of[*events.PartProgress](w.bus)
	w.same("attempts of what is put aside", progress[len(progress)-1].Attempts, 15)
	err := asset.NewEraser(w.config).HandleMessage(t.Context(), saga.Message{Data: []byte("{}")}, 1)
	if !errors.Is(err, events.ErrUnreadable) {
		t.Errorf("an unreadable message: %v, want %v", err, events.ErrUnreadable)
	}
}

func TestWhatThePolicyDoesNotHaveIsParked(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	parked := w.parked(w.handle(w.command("unheard", "a", gen1)))
	w.same("reason", parked.Reason, "kind-not-in-policy")

	c := w.unwanted("mesh", "a", gen1)
	c.Parts = map[string]string{"payload": gen1, "gone": gen1}
	w.gate.want(c)
	parked = w.parked(w.handle(c))
	w.same("reason", parked.Reason, "part-not-in-policy")
	w.same("part", parked.Part, "gone")
	w.same("parts erased", partsOf(of[*events.PartErased](w.bus)), []string{"payload"})
	w.same("parts asked for", w.gate.questions()[0].Parts, map[string]string{"payload": gen1})
}

func TestALockedObjectBlocksUntilItIsFreeAndTheOthersGo(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	c := w.command("mesh", "a", gen1)
	until := start.Add(48 * time.Hour).UTC()
	w.blobs.Lock("assets", "payload/a/"+gen1+"/a", until)
	parked := w.parked(w.handle(c))
	w.same("part", parked.Part, "payload")
	w.same("reason", parked.Reason, "object-locked")
	w.same("until", parked.Until, &until)
	w.same("questions", len(w.gate.questions()), 1) // an obstacle is not run into again
	w.same("what is stored", len(w.stored()), 2)    // both versions of the locked key
	w.blobs.Unlock("assets", "payload/a/"+gen1+"/a")
	w.same("evidence", w.erased(c), meshEvidence(gen1), countsOnly)
}

func TestTheObstacleThatEndsFirstDecidesAndTheOtherIsTold(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	c := w.command("mesh", "a", gen1)
	w.blobs.Block("assets", &asset.Blocked{Reason: asset.ReasonObjectLocked, Until: start.Add(time.Hour)})
	w.blobs.Block("thumbs", &asset.Blocked{Reason: asset.ReasonBucketMissing})
	parked := w.parked(w.handle(c))
	w.same("part", parked.Part, "thumbnail")
	told := of[*events.PartProgress](w.bus)
	w.same("told", len(told), 1)
	w.same("part told of", told[0].Part, "payload")
	w.same("status", told[0].Status, events.ProgressBlocked)
	w.same("reason", told[0].Reason, "object-locked")
}

func TestAFaultThatMayPassDecidesBeforeAnObstacle(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	c := w.command("mesh", "a", gen1)
	w.blobs.Block("assets", &asset.Blocked{Reason: asset.ReasonBucketMissing})
	w.steps.set(func(_ context.Context, m moment) error {
		if m.call.Bucket == "thumbs" {
			return errLost
		}
		return nil
	})
	if err := w.handle(c); !errors.Is(err, errLost) {
		t.Fatalf("handle: %v, want %v", err, errLost)
	}
	var told []string
	for _, p := range of[*events.PartProgress](w.bus) {
		told = append(told, fmt.Sprint(p.Part, " ", p.Status, " ", p.Attempts))
	}
	slices.Sort(told)
	w.same("told", told, []string{"payload blocked 1", "thumbnail retry 1"})
	if err := w.attempt(c, 2); !errors.Is(err, errLost) {
		t.Fatalf("handle: %v, want %v", err, errLost)
	}
	for _, p := range of[*events.PartProgress](w.bus)[2:] {
		if p.Part == "thumbnail" {
			t.Error("the second failure was told of too")
		}
	}
}

// flaky is an object store that refuses some keys, or says deleted and keeps them.
type flaky struct {
	asset.Blobs
	mu     sync.Mutex
	refuse map[string]int // by key, how many times yet
	keeps  map[string]bool
	tried  map[string]int
}

func (f *flaky) Delete(ctx context.Context, bucket string, versions []asset.Version) []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	errs := make([]error, len(versions))
	for i, v := range versions {
		f.tried[v.Key]++
		switch {
		case f.refuse[v.Key] > 0:
			f.refuse[v.Key]--
			errs[i] = errLost
		case f.keeps[v.Key]:
		default:
			errs[i] = f.Blobs.Delete(ctx, bucket, []asset.Version{v})[0]
		}
	}
	return errs
}

func (w *world) flaky() *flaky {
	f := &flaky{Blobs: w.blobs, refuse: map[string]int{}, keeps: map[string]bool{}, tried: map[string]int{}}
	w.config.Blobs = f
	return f
}

func TestOnlyWhatFailedIsTriedAgain(t *testing.T) {
	w, key := newWorld(t), "payload/a/"+gen1+"/b/c"
	w.mesh("a", gen1)
	f := w.flaky()
	f.refuse[key] = 2 // the marker and the version of it, once each
	w.same("evidence", w.erased(w.command("mesh", "a", gen1)), meshEvidence(gen1), countsOnly)
	w.same("tries", f.tried, map[string]int{
		"payload/a/" + gen1 + "/a": 2, key: 4, "payload/a/" + gen1 + "/d": 1, "thumbs/a/" + gen1 + ".png": 1,
	})
}

// cut is an object store whose first call is cut in the middle: half of it happens, and nobody hears of it.
type cut struct {
	asset.Blobs
	once sync.Once
}

func (c *cut) Delete(ctx context.Context, bucket string, versions []asset.Version) (errs []error) {
	c.once.Do(func() {
		c.Blobs.Delete(ctx, bucket, versions[:len(versions)/2])
		errs = slices.Repeat([]error{errLost}, len(versions))
	})
	if errs == nil {
		errs = c.Blobs.Delete(ctx, bucket, versions)
	}
	return errs
}

func TestADeleteThatIsCutInTheMiddleIsFinished(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	w.config.Blobs = &cut{Blobs: w.blobs}
	w.same("evidence", w.erased(w.command("mesh", "a", gen1)), meshEvidence(gen1), countsOnly)
	w.same("what is stored", w.stored(), map[string]string{})
}

func TestWhatKeepsFailingComesAgainLater(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	w.flaky().refuse["payload/a/"+gen1+"/d"] = 1 << 30
	c := w.command("mesh", "a", gen1)
	if err := w.handle(c); !errors.Is(err, errLost) {
		t.Fatalf("handle: %v, want %v", err, errLost)
	}
	w.same("what is left", len(w.stored()), 1)
	w.same("parts erased", partsOf(of[*events.PartErased](w.bus)), []string{"description", "thumbnail"})
	w.config.Blobs = w.blobs
	w.same("evidence", w.erased(c), meshEvidence(gen1), countsOnly)
}

func TestAStoreThatSaysDeletedAndKeepsIsNotBelieved(t *testing.T) {
	w, key := newWorld(t), "payload/a/"+gen1+"/d"
	w.mesh("a", gen1)
	f := w.flaky()
	f.keeps[key] = true
	c := w.command("mesh", "a", gen1)
	for attempt := 1; attempt < 6; attempt++ { // its listings may only lag behind
		if err := w.attempt(c, attempt); err == nil || asset.AsBlocked(err) != nil {
			t.Fatalf("attempt %d: %v, want a fault that may pass", attempt, err)
		}
		w.same("deletes", f.tried[key], attempt)
	}
	parked := w.parked(w.attempt(c, 6))
	w.same("reason", parked.Reason, "objects-still-present")
	w.same("part", parked.Part, "payload")
}

// sticky is a document store that says deleted and keeps.
type sticky struct{ asset.Documents }

func (sticky) Delete(_ context.Context, refs []asset.DocumentRef) []error {
	return make([]error, len(refs))
}

// H-24.
func TestADocumentThatStaysIsNotReported(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	w.config.Documents = sticky{w.documents}
	parked := w.parked(w.handle(w.command("mesh", "a", gen1)))
	w.same("reason", parked.Reason, "document-still-present")
	w.same("parts erased", partsOf(of[*events.PartErased](w.bus)), []string{"payload", "thumbnail"})
}

func TestAWriterThatNeverStopsBlocksItsPart(t *testing.T) {
	w := newWorld(t)
	w.put("scans", "raw/a/0", "x")
	w.gate.onAsk = func(n int) { w.put("scans", fmt.Sprint("raw/a/", n), "x") }
	parked := w.parked(w.handle(w.command("scan", "a", gen1)))
	w.same("reason", parked.Reason, "objects-still-present")
}

func TestALongEraseIsHeardOf(t *testing.T) {
	w := newWorld(t)
	for i := range 3500 {
		w.put("assets", fmt.Sprintf("payload/a/%s/%04d", gen1, i), "x")
	}
	clock := start
	w.now = func() time.Time { return clock }
	w.gate.onAsk = func(int) { clock = clock.Add(w.config.Policy.ResendAfter / 4) }
	w.erased(w.command("mesh", "a", gen1))
	told := of[*events.PartProgress](w.bus)
	w.same("times told", len(told), 1) // of four pages, after half the time and at the end, when nothing is left to tell
	w.same("status", told[0].Status, events.ProgressErasing)
	w.same("part", told[0].Part, "payload")
	w.same("next try", told[0].NextTry == nil, true)
}

// TestADocumentWhoseIDHasAnotherTypeIsNotTakenForGone: the policy says that ids are text, and the store holds a number.
func TestADocumentWhoseIDHasAnotherTypeIsNotTakenForGone(t *testing.T) {
	w := newWorld(t)
	number := asset.DocumentRef{Collection: "infos", Key: "42", IDType: policy.IDInt, Generation: gen1}
	w.documents.Adopt(number, map[string]any{"from": "before us"})
	c := w.command("scan", "42", gen1)
	parked := w.parked(w.handle(c))
	if parked.Reason != string(asset.ReasonDocumentStillPresent) || parked.Part != "info" || !strings.Contains(parked.Error(), "id_type") {
		t.Errorf("parked: %+v", parked)
	}
	if exists, errs := w.documents.Exists(t.Context(), []asset.DocumentRef{number}); errs[0] != nil || !exists[0] {
		t.Errorf("the document: %v, %v; it is not ours to delete", exists, errs)
	}
	if errs := w.documents.Delete(t.Context(), []asset.DocumentRef{number}); errs[0] != nil {
		t.Fatal(errs)
	}
	w.same("evidence once it is gone", w.erased(c), []events.PartEvidence{{Part: "info", Generation: gen1}, {Part: "raw", Generation: gen1}}, countsOnly)
	w.same("looks for other types of keys that are only text", func() int {
		before := w.probe.Calls("documents.OtherType")
		w.erased(w.command("scan", "text", gen1))
		return w.probe.Calls("documents.OtherType") - before
	}(), 0)
}
