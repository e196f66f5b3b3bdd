package dependency_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestWhatLiesWhereItWasErasedIsAViolation(t *testing.T) {
	b, s := planBench(t)
	a := b.create("item", "a")
	s.put("a", a.Generation, version("payload", "k", "v1", 1), version("payload", "k", "v2", 1), version("payload", "k", "v3", 1),
		events.Thing{Part: "note", Form: events.FormDocument, Collection: "notes", Key: "a"})
	d := b.del("a")
	b.sound(1) // it is being erased still
	b.erased(d, "a", a.Generation)
	v := b.verify()
	if v.Total != 2 || v.Violations[0].Part != "note" || v.Violations[1].Part != "payload" || v.Violations[1].Deletion != d.ID ||
		!strings.Contains(v.Violations[1].Found, "lie 3 things, a version at assets/k the first") {
		t.Errorf("got %s", pretty(v))
	}
	s.things = nil
	s.unseen = map[string]events.Unseen{"a": {Part: "payload", Reason: "access-denied"}}
	b.alone("G3", "a", "nobody can look whether it is: access-denied")
	s.unseen = nil
	b.sound(1)
}

func TestVerifyLeavesAloneWhatWasGivenUp(t *testing.T) {
	b, s := planBench(t)
	a := b.create("item", "a")
	s.put("a", a.Generation, version("payload", "k", "v1", 1))
	d := b.del("a")
	b.report(events.TypePartErased, events.PartErased{Deletion: d.ID, Asset: "a", Generation: a.Generation,
		PartEvidence: events.PartEvidence{Part: "note", Generation: a.Generation, SeenAbsentAt: b.now()}})
	if _, err := b.Force(b.ctx, d.ID, dependency.Force{Part: "payload", Reason: "bucket gone"}); err != nil {
		t.Fatal(err)
	}
	b.sound(1)
}

func TestAPlaceThatMayBeAnothersByNowIsNotTheErasedOnes(t *testing.T) {
	b, s := planBench(t)
	file := func(id, key string) dependency.Asset {
		a, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: "file", Attributes: map[string]any{"key": key, "other": "x"}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	past := func(what string, a dependency.Asset, want ...string) {
		t.Helper()
		b.verify()
		asked := s.asked[a.ID+" "+a.Generation]
		if !slices.Equal(asked.Past, want) || len(asked.Attributes) != 1 {
			t.Errorf("%s: asked about %s", what, pretty(asked))
		}
	}
	one, two := file("one", "k/1"), file("two", "k/2")
	b.gone("one")
	b.gone("two")
	past("nothing came after it", one)
	file("three", "k/1")
	past("another asset has the place", one, "content")
	past("nothing came after it", two)
	file("two", "k/2")
	past("it was created again", two, "content")
	item := b.create("item", "item")
	part, err := b.DeletePart(b.ctx, "item", "note", dependency.DeleteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	b.erased(part, "item", item.Generation)
	b.verify()
	if asked := s.asked["item "+item.Generation]; len(asked.Past) != 0 || len(asked.Parts) != 1 || asked.Parts["note"] != item.Generation {
		t.Errorf("of a part: asked about %s", pretty(asked))
	}
	if _, err := b.Admit(b.ctx, events.Admission{Asset: "item", Part: "note", Operator: true, Write: true}); err != nil {
		t.Fatal(err)
	}
	b.verify()
	if asked := s.asked["item "+item.Generation]; !slices.Equal(asked.Past, []string{"note"}) {
		t.Errorf("of a part that was opened again: asked about %s", pretty(asked))
	}
}

func TestSinceLooksOnlyAtWhatWasErasedSince(t *testing.T) {
	b, s := planBench(t)
	old := b.create("item", "old")
	b.gone("old")
	waited := b.create("item", "waited")
	d := b.del("waited") // asked for before, and completed after
	b.advance(time.Hour)
	since := b.now()
	b.erased(d, "waited", waited.Generation)
	young := b.create("item", "young")
	b.gone("young")
	b.create("item", "lives")
	b.del("lives")
	for _, a := range []dependency.Asset{old, waited, young} {
		s.put(a.ID, a.Generation, version("payload", a.ID, "v1", 1))
	}
	v, err := b.Verify(b.ctx, dependency.VerifyRequest{Since: &since})
	if err != nil || v.Checked != 2 || v.Total != 2 || v.Violations[0].Asset+v.Violations[1].Asset != "youngwaited" {
		t.Errorf("got %s, %v", pretty(v), err)
	}
	if v := b.verify(); v.Total != 3 || v.Checked != 4 {
		t.Errorf("without: %s", pretty(v))
	}
}

func TestAStoreThatIsAwayForAMomentDoesNotEndTheRun(t *testing.T) {
	b, s := planBench(t)
	for i := range 2 * 200 { // the stores are asked about two pages at least
		b.create("item", fmt.Sprint("a", i))
		b.gone(fmt.Sprint("a", i))
	}
	looks := 0
	s.before = func() error {
		if looks++; looks > 100 && looks < 104 {
			return problem.New(problem.Unavailable, "away")
		}
		return nil
	}
	b.sound(400)
	if looks != 203 {
		t.Errorf("%d looks", looks)
	}
}

// What a finished deletion has left goes while it is looked at: the second look does not find it.
func TestWhatChangesBetweenTwoLooksIsNoViolation(t *testing.T) {
	b, s := planBench(t)
	a := b.create("item", "a")
	s.put("a", a.Generation, version("payload", "k", "v1", 1))
	b.gone("a")
	looks := 0
	s.before = func() error {
		if looks++; looks == 2 {
			s.things = nil
		}
		return nil
	}
	b.sound(1)
	if looks != 2 {
		t.Errorf("%d looks", looks)
	}
	s.things = map[string][]events.Thing{"a " + a.Generation: {version("payload", "k", "v1", 1)}}
	s.before = func() error { // it is created again, and again, while the stores are looked at
		b.advance(time.Second)
		b.changeNode("a", func(n *dependency.Node) { n.UpdatedAt = b.now() })
		return nil
	}
	b.sound(1)
}

func TestApplyHasWhatLiesThereLookedAtAgainAndNothingElse(t *testing.T) {
	b, s := planBench(t)
	back := b.create("item", "back")
	b.gone("back")
	b.create("item", "empty")
	b.gone("empty")
	b.create("item", "waits")
	b.del("waits")
	b.sweepSent()
	s.put("back", back.Generation, version("payload", "back", "v1", 1))
	if v := b.verify(); v.Driven != 0 || v.Total != 1 || len(b.flags()) != 0 {
		t.Errorf("without apply: %s, flags %+v", pretty(v), b.flags())
	}
	for range 2 { // a repeat sets no second flag
		v, err := b.Verify(b.ctx, dependency.VerifyRequest{Apply: true})
		if err != nil || v.Driven != 1 || v.Total != 1 {
			t.Errorf("got %s, %v", pretty(v), err)
		}
		if flags := b.flags(); len(flags) != 1 || flags[0].Asset != "back" || flags[0].Cause != "recheck" {
			t.Errorf("flags: %+v", flags)
		}
	}
}
