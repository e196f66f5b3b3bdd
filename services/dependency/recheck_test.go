package dependency_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// gone deletes an asset to its end.
func (b *bench) gone(id string) (dependency.Asset, dependency.Deletion) {
	b.t.Helper()
	a := b.asset(id)
	d := b.del(id)
	b.erased(d, id, a.Generation)
	if got := b.deletion(d.ID).Status; got != dependency.Deleted {
		b.t.Fatalf("deletion of %q is %s", id, got)
	}
	return a, d
}

// rechecks lets recheck_after pass, and gives the commands that ask for a later look.
func (b *bench) rechecks() (commands []events.Erase) {
	b.t.Helper()
	b.advance(24 * time.Hour)
	return b.recheckNow()
}

func (b *bench) recheckNow() (commands []events.Erase) {
	b.t.Helper()
	if err := b.Recheck(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	flags, err := b.Commands().Claim(b.t.Context(), 100, time.Minute)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range flags {
		_, command, err := events.DecodeCommand(f.Message.Data)
		if err != nil || !f.Replace {
			b.t.Fatalf("command %+v, %v", f, err)
		}
		commands = append(commands, command)
	}
	return commands
}

// looked reports a later look, and what it found of one part.
func (b *bench) looked(c events.Erase, part string, objects int64) {
	b.t.Helper()
	b.report(events.TypeAssetErased, events.AssetErased{Deletion: c.Deletion, Asset: c.Asset, Generation: c.Generation, Recheck: c.Recheck,
		Parts: []events.PartEvidence{{Part: part, Generation: c.Generation, Objects: objects, Bytes: 7 * objects, Attempts: 1, SeenAbsentAt: b.now()}}})
}

func (b *bench) mayErase(c events.Erase) events.Answer {
	b.t.Helper()
	answers, err := b.Current(b.t.Context(), []events.Question{{Deletion: c.Deletion, Asset: c.Asset, Generation: c.Generation, Parts: c.Parts, Recheck: c.Recheck}})
	if err != nil {
		b.t.Fatal(err)
	}
	return answers[0]
}

func TestWhatWasErasedIsLookedAtAgainOnce(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	b.create("bare", "nothing to look at")
	a, d := b.gone("x")
	b.gone("nothing to look at")
	if early := b.recheckNow(); len(early) != 0 {
		t.Fatalf("before recheck_after: %+v", early)
	}
	b.advance(24*time.Hour - time.Minute)
	b.advance(time.Minute)
	commands := b.recheckNow()
	want := []events.Erase{{Deletion: d.ID, Asset: "x", Kind: "item", Owner: "acme", Generation: a.Generation, Recheck: 1, By: "olga", Reason: "test"}}
	if diff := cmp.Diff(want, commands); diff != "" {
		t.Fatalf("commands (-want +got):\n%s", diff)
	}
	if again := b.recheckNow(); len(again) != 0 {
		t.Errorf("while it is under way: %+v", again)
	}
	if got := b.mayErase(commands[0]); !got.Erase || !slices.Equal(got.Only, []string{"note", "payload"}) || got.Owner != "acme" || got.Kind != "item" {
		t.Errorf("answer: %+v", got)
	}
	trail := b.trail("x")
	b.looked(commands[0], "payload", 0)
	if after := b.trail("x"); len(after) != len(trail) || len(b.flags()) != 0 {
		t.Errorf("a look that found nothing left %v and the flags %v", after[len(trail):], b.flags())
	}
	if got := b.mayErase(commands[0]); got.Erase {
		t.Error("a look that is over may erase")
	}
	if again := b.rechecks(); len(again) != 0 {
		t.Errorf("after a look that found nothing: %+v", again)
	}
}

func TestALookThatIsNotHeardOfIsAskedForAgain(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	b.gone("x")
	first := b.rechecks()
	if err := b.Commands().Sent(t.Context(), flagIDs(b.flags())); err != nil {
		t.Fatal(err)
	}
	b.sweepSent()
	b.advance(10 * time.Minute) // resend_after of this policy
	second := b.recheckNow()
	if diff := cmp.Diff(first, second); diff != "" || len(first) != 1 {
		t.Fatalf("asked again (-first +second):\n%s", diff)
	}
	next := b.now().Add(3 * time.Hour)
	b.report(events.TypePartProgress, events.PartProgress{Deletion: first[0].Deletion, Asset: "x", Generation: first[0].Generation, Recheck: 1,
		Status: events.ProgressRetry, Attempts: 9, LastError: "503", NextTry: &next})
	if got := b.deletion(first[0].Deletion); got.Status != dependency.Deleted || got.Blocked != nil || got.Steps[0].LastError != "" {
		t.Errorf("a failing look changed the deletion: %s", pretty(got))
	}
	b.advance(3 * time.Hour)
	if third := b.recheckNow(); len(third) != 1 {
		t.Errorf("at the next try: %+v", third)
	}
}

func flagIDs(commands []dependency.Command) (ids []string) {
	for _, c := range commands {
		ids = append(ids, c.ID)
	}
	return ids
}

// sweepSent removes the flags that the broker has.
func (b *bench) sweepSent() {
	b.t.Helper()
	err := b.graph.Update(b.t.Context(), func(tx dependency.Tx) error { return tx.RemoveCommands(b.t.Context(), flagIDs(b.flagsIn(tx))) })
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) flagsIn(tx dependency.Tx) []dependency.Command {
	list, err := tx.Commands(b.t.Context(), dependency.CommandFilter{})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

func TestWhatCameLateHasALineOfItsOwnInTheTrail(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	_, d := b.gone("x")
	before, receipt := b.trail("x"), pretty(b.deletion(d.ID))
	c := b.rechecks()[0]
	for range 3 { // G5: a repeat changes nothing
		b.looked(c, "payload", 2)
	}
	page, err := b.Audit(b.ctx, "x", "")
	if err != nil || len(page.Items) != len(before)+1 {
		t.Fatalf("trail: %+v, %v", page.Items, err)
	}
	line := page.Items[len(before)]
	if line.Type != events.TypePartErased || line.Part != "payload" || line.Deletion != d.ID || line.Detail == "" {
		t.Errorf("line: %+v", line)
	}
	if after := pretty(b.deletion(d.ID)); after != receipt {
		t.Errorf("the deletion changed:\n%s\n%s", receipt, after)
	}
	// Where something was found, more may land.
	second := b.rechecks()
	if len(second) != 1 || second[0].Recheck != 2 {
		t.Fatalf("after a find: %+v", second)
	}
	b.looked(c, "payload", 5) // the first look's report once more, very late
	b.looked(second[0], "payload", 0)
	if len(b.trail("x")) != len(before)+1 || len(b.rechecks()) != 0 {
		t.Error("a stale report acted, or the looks do not end")
	}
}

func TestTheTrailGoesOnWhenTheTombstoneWasPurged(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	b.gone("x")
	c := b.rechecks()[0]
	err := b.graph.Update(t.Context(), func(tx dependency.Tx) error { return tx.RemoveNodes(t.Context(), []string{"x"}) })
	if err != nil {
		t.Fatal(err)
	}
	if got := b.mayErase(c); !got.Erase || !slices.Equal(got.Only, []string{"note", "payload"}) {
		t.Errorf("answer: %+v", got)
	}
	before := b.trail("x")
	b.looked(c, "payload", 1)
	if after := b.trail("x"); len(after) != len(before)+1 {
		t.Errorf("trail: %v", after)
	}
	b.create("item", "x")
	b.gone("x")
	b.trail("x") // dense
}

func TestTheNextGenerationIsNotTouched(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	old, d := b.gone("x")
	b.create("item", "x")
	c := b.rechecks()[0]
	if got := b.mayErase(c); !got.Erase || !slices.Equal(got.Only, []string{"note", "payload"}) {
		t.Errorf("places that hold the old generation: %+v", got)
	}
	forged := c
	forged.Parts = map[string]string{"payload": b.asset("x").Generation, "note": old.Generation}
	if got := b.mayErase(forged); !slices.Equal(got.Only, []string{"note"}) {
		t.Errorf("a command that names the living generation: %+v", got)
	}
	forged = c
	forged.Generation = b.asset("x").Generation
	if got := b.mayErase(forged); got.Erase {
		t.Errorf("a command of the living generation: %+v", got)
	}
	b.looked(c, "payload", 1)
	if got := b.trail("x"); got[len(got)-1] != events.TypePartErased || b.asset("x").Status != dependency.Live || b.deletion(d.ID).Status != dependency.Deleted {
		t.Errorf("trail %v, asset %s", got, pretty(b.asset("x")))
	}
}

func TestAPlaceThatTheGenerationDoesNotFenceIsLookedAtWhileNobodyElseHasIt(t *testing.T) {
	b := newBench(t)
	file := func(id, key string) {
		t.Helper()
		if _, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: "file", Attributes: map[string]any{"key": key}}); err != nil {
			t.Fatal(err)
		}
	}
	file("a", "docs/a.pdf")
	b.gone("a")
	c := b.rechecks()[0]
	if got := b.mayErase(c); !slices.Equal(got.Only, []string{"content"}) || got.Attributes["key"] != "docs/a.pdf" {
		t.Errorf("while nobody has the place: %+v", got)
	}
	file("b", "docs/a.pdf")
	if got := b.mayErase(c); !got.Erase || len(got.Only) != 0 {
		t.Errorf("once another asset has the place: %+v", got)
	}
	b.gone("b")
	if got := b.mayErase(c); !slices.Equal(got.Only, []string{"content"}) {
		t.Errorf("once it has given it back: %+v", got)
	}
	file("a", "docs/a.pdf")
	if got := b.mayErase(c); !got.Erase || len(got.Only) != 0 {
		t.Errorf("once the id was created again: %+v", got)
	}
}

func TestNothingIsLookedAtWhilePaused(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	b.gone("x")
	c := b.rechecks()[0]
	if err := b.Pause(b.ctx, ""); err != nil {
		t.Fatal(err)
	}
	if got := b.mayErase(c); got.Erase || !got.Paused {
		t.Errorf("answer: %+v", got)
	}
}

func TestAPartThatWasDeletedAloneIsLookedAtInItsOldGeneration(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.delPart("x", "payload")
	b.erased(d, "x", a.Generation)
	b.rewrite("x", "payload")
	c := b.rechecks()
	if len(c) != 1 || !cmp.Equal(c[0].Parts, map[string]string{"payload": a.Generation}) {
		t.Fatalf("commands: %+v", c)
	}
	if got := b.mayErase(c[0]); !slices.Equal(got.Only, []string{"payload"}) {
		t.Errorf("answer: %+v", got)
	}
}

func TestWhatWasGivenUpIsNotLookedAt(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	d := b.del("x")
	for _, part := range []string{"note", "payload"} {
		if _, err := b.Force(b.ctx, d.ID, dependency.Force{Part: part, Reason: "the store is gone"}); err != nil {
			t.Fatal(err)
		}
	}
	if c := b.rechecks(); len(c) != 0 {
		t.Errorf("commands: %+v", c)
	}
}
