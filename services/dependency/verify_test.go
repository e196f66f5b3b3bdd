package dependency_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func (b *bench) verify() dependency.Verification {
	b.t.Helper()
	v, err := b.Verify(b.ctx, dependency.VerifyRequest{})
	if err != nil {
		b.t.Fatalf("verify: %v", err)
	}
	return v
}

// sound wants no violation among so many assets.
func (b *bench) sound(assets int) {
	b.t.Helper()
	if v := b.verify(); v.Total != 0 || len(v.Violations) != 0 || v.Checked != assets {
		b.t.Errorf("want %d sound assets, got %s", assets, pretty(v))
	}
}

// alone wants one violation, of that guarantee, about that asset (or owner), that says so.
func (b *bench) alone(guarantee, about, says string) dependency.Violation {
	b.t.Helper()
	v := b.verify()
	if len(v.Violations) != 1 || v.Total != 1 {
		b.t.Fatalf("want one violation, got %s", pretty(v))
	}
	found := v.Violations[0]
	if found.Guarantee != guarantee || found.Asset+found.Owner != about || !strings.Contains(found.Found, says) || found.Do == "" {
		b.t.Errorf("want %s of %s with %q, got %s", guarantee, about, says, pretty(found))
	}
	return found
}

// change writes past the rules.
func (b *bench) change(f func(ctx context.Context, tx dependency.Tx) error) {
	b.t.Helper()
	if err := b.graph.Update(b.t.Context(), func(tx dependency.Tx) error { return f(b.t.Context(), tx) }); err != nil {
		b.t.Fatal(err)
	}
}

// changeNode writes a node past the rules.
func (b *bench) changeNode(id string, f func(*dependency.Node)) {
	b.t.Helper()
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		nodes, err := tx.Nodes(ctx, []string{id})
		if err != nil {
			return err
		}
		n := nodes[id]
		f(&n)
		return tx.SaveNodes(ctx, []dependency.Node{n})
	})
}

// changeErasure writes what a deletion does to an asset past the rules.
func (b *bench) changeErasure(deletion, asset string, f func(*dependency.Erasure)) {
	b.t.Helper()
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		k := dependency.ErasureKey{Deletion: deletion, Asset: asset}
		all, err := tx.Erasures(ctx, []dependency.ErasureKey{k})
		if err != nil {
			return err
		}
		e := all[k]
		f(&e)
		return tx.SaveErasures(ctx, []dependency.Erasure{e})
	})
}

func (b *bench) changeDeletion(id string, f func(*dependency.DeletionRecord)) {
	b.t.Helper()
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		all, err := tx.Deletions(ctx, []string{id})
		if err != nil {
			return err
		}
		d := all[id]
		f(&d)
		return tx.SaveDeletions(ctx, []dependency.DeletionRecord{d})
	})
}

func (b *bench) dropFlags(deletion string) {
	b.t.Helper()
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		flags, err := tx.Commands(ctx, dependency.CommandFilter{Deletions: []string{deletion}})
		var ids []string
		for _, f := range flags {
			ids = append(ids, f.ID)
		}
		if err != nil {
			return err
		}
		return tx.RemoveCommands(ctx, ids)
	})
}

func TestASoundSystemHasNoViolations(t *testing.T) {
	b, s := planBench(t)
	b.create("bare", "root")
	b.create("item", "child", to("PART_OF", "root"))
	b.create("bare", "mentions", to("REFERENCES", "root"), to("DEPENDS_ON", "root"))
	b.create("slow", "cancelled")
	b.create("slow", "scheduled")
	b.create("item", "running")
	b.create("item", "again")
	b.create("item", "parted")
	b.sound(8)
	if _, err := b.Cancel(b.ctx, b.del("cancelled").ID); err != nil {
		t.Fatal(err)
	}
	b.del("scheduled")
	b.del("running")
	first := b.asset("again")
	b.gone("again")
	again := b.create("item", "again")
	s.put("again", again.Generation, version("payload", "x", "v1", 1))
	part, err := b.DeletePart(b.ctx, "parted", "note", dependency.DeleteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	b.sound(8)
	b.erased(part, "parted", b.asset("parted").Generation)
	if err := b.Unlink(b.ctx, "mentions", "DEPENDS_ON", "root"); err != nil {
		t.Fatal(err)
	}
	d := b.del("root")
	b.sound(8)
	b.erased(d, "root", b.asset("root").Generation)
	b.erased(d, "child", b.asset("child").Generation)
	b.sound(8)
	s.put("again", first.Generation, version("payload", "x", "v0", 1))
	if found := b.alone("G3", "again", "lies a version at assets/x"); found.Generation != first.Generation || found.Part != "payload" {
		t.Errorf("got %s", pretty(found))
	}
	b.create("bare", "page-0")
	for i := range 450 { // more than two pages, of assets and of deletions
		id := fmt.Sprint("page-", i+1)
		b.create("bare", id, to("PART_OF", "page-0"))
		if i%3 == 0 {
			b.del(id)
		}
	}
	if v := b.verify(); v.Checked != 459 || v.Total != 1 {
		t.Errorf("got %s", pretty(v))
	}
}

func TestVerifyIsForOperatorsAndNeedsTheStores(t *testing.T) {
	b, s := planBench(t)
	_, err := b.Verify(b.as("acme"), dependency.VerifyRequest{})
	refused(t, err, problem.Forbidden)
	b.create("item", "a")
	b.gone("a")
	s.before = func() error { return problem.New(problem.Unavailable, "away") }
	_, err = b.Verify(b.ctx, dependency.VerifyRequest{})
	refused(t, err, problem.Unavailable)
}

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

func TestATieToATombstoneIsAViolation(t *testing.T) {
	b := newClosureBench(t)
	b.create("bare", "a")
	b.create("bare", "b")
	b.gone("b")
	link := dependency.Link{From: "a", Type: "DEPENDS_ON", To: "b"}
	b.change(func(ctx context.Context, tx dependency.Tx) error { return tx.SaveLinks(ctx, []dependency.Link{link}) })
	b.alone("G4", "a", `it is live, and has the link DEPENDS_ON to "b", which is deleted`)
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		link.Hidden = "another deletion"
		return tx.SaveLinks(ctx, []dependency.Link{link})
	})
	b.sound(2)
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		return tx.SaveLinks(ctx, []dependency.Link{{From: "b", Type: "REFERENCES", To: "a"}})
	})
	b.alone("G4", "b", `it is deleted, and has the link REFERENCES to "a"`)
}

func TestCountersThatDriftAreAViolation(t *testing.T) {
	b := newClosureBench(t)
	size := int64(70)
	if _, _, err := b.PutAsset(b.ctx, "a", dependency.Put{Kind: "slow", Bytes: &size}); err != nil {
		t.Fatal(err)
	}
	b.del("a")
	b.sound(1)
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		return tx.AddUsage(ctx, map[string]dependency.Usage{"acme": {Assets: 1, Bytes: -5}})
	})
	b.alone("G8", "acme", "the counters say 2 assets, 65 bytes and 70 bytes to be released; its assets add up to 1, 70 and 70")
}

func TestWhatNobodyWillFinishIsAViolation(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		change func(b *bench, d dependency.Deletion)
		says   string
	}{
		"no flag, no time": {"bare", func(b *bench, d dependency.Deletion) {
			b.dropFlags(d.ID)
			b.changeErasure(d.ID, "a", func(e *dependency.Erasure) { e.CheckAt = time.Time{} })
		}, "neither a command flag nor a time"},
		"scheduled without a flag": {"slow", func(b *bench, d dependency.Deletion) { b.dropFlags(d.ID) }, "it would never begin"},
		"an asset that lives": {"bare", func(b *bench, d dependency.Deletion) {
			b.changeNode("a", func(n *dependency.Node) { n.Status, n.Deletion = dependency.Live, "" })
		}, "nobody will finish it"},
		"called deleted too early": {"bare", func(b *bench, d dependency.Deletion) {
			b.changeDeletion(d.ID, func(r *dependency.DeletionRecord) { r.Status = dependency.Deleted })
		}, "has not finished with the asset"},
		"too many counted": {"bare", func(b *bench, d dependency.Deletion) {
			b.changeDeletion(d.ID, func(r *dependency.DeletionRecord) { r.Total = 3 })
		}, "counts 3 assets, 0 of them done; there are 1, 0 of them done"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newClosureBench(t)
			b.create(c.kind, "a")
			d := b.del("a")
			b.sound(1)
			c.change(b, d)
			v := b.verify()
			var says []string
			for _, found := range v.Violations {
				if found.Guarantee == "G1" && found.Deletion == d.ID {
					says = append(says, found.Found)
				}
			}
			if !strings.Contains(strings.Join(says, "; "), c.says) {
				t.Errorf("want %q, got %s", c.says, pretty(v))
			}
		})
	}
	t.Run("not looked for, but flagged or timed", func(t *testing.T) {
		b := newClosureBench(t)
		b.create("bare", "a")
		d := b.del("a")
		b.dropFlags(d.ID)
		b.sound(1)
	})
}

func TestARecordThatDoesNotFitItsAssetIsAViolation(t *testing.T) {
	for name, c := range map[string]struct {
		change          func(b *bench, d dependency.Deletion)
		guarantee, says string
	}{
		"its deletion is unknown": {func(b *bench, _ dependency.Deletion) {
			b.changeNode("a", func(n *dependency.Node) { n.Deletion = "01900000-0000-7000-8000-000000000001" })
		}, "G1", "of which the graph has no record"},
		"the part is called present": {func(b *bench, _ dependency.Deletion) {
			b.changeNode("a", func(n *dependency.Node) { n.Status, n.Deletion, n.Parts = dependency.Live, "", nil })
		}, "G7", "called present in the generation that the deletion has erased"},
		"evidence is missing": {func(b *bench, d dependency.Deletion) {
			b.changeErasure(d.ID, "a", func(e *dependency.Erasure) { e.Steps[1].Status = dependency.StepErasing })
		}, "G3", `without evidence of part "payload"`},
		"another deletion has it": {func(b *bench, d dependency.Deletion) {
			b.changeErasure(d.ID, "a", func(e *dependency.Erasure) { e.Done = false })
		}, "G3", "has not finished with it"},
		"an entry of the trail is missing": {func(b *bench, _ dependency.Deletion) {
			b.change(func(ctx context.Context, tx dependency.Tx) error {
				n := b.asset("a")
				return tx.Append(ctx, []dependency.Entry{{ID: "01900000-0000-7000-8000-000000000002", Asset: "a", Sequence: 9, Type: events.TypeDeletionBlocked,
					Time: b.now(), Generation: n.Generation}})
			})
		}, "G9", "entry 6 of its audit trail is missing"},
		"the trail ends too early": {func(b *bench, _ dependency.Deletion) {
			b.changeNode("a", func(n *dependency.Node) { n.Sequence++ })
		}, "G9", "ends with entry 5, and the asset knows of 6"},
		"a transition was told twice": {func(b *bench, d dependency.Deletion) {
			b.change(func(ctx context.Context, tx dependency.Tx) error {
				return tx.Append(ctx, []dependency.Entry{{ID: "01900000-0000-7000-8000-000000000003", Asset: "a", Sequence: 6, Type: events.TypeAssetErased,
					Time: b.now(), Deletion: d.ID}})
			})
			b.changeNode("a", func(n *dependency.Node) { n.Sequence++ })
		}, "G5", "tombstone.asset.erased.v1 of the deletion 2 times"},
		"a transition was not told": {func(b *bench, d dependency.Deletion) {
			b.changeDeletion(d.ID, func(r *dependency.DeletionRecord) { r.Status = dependency.Cancelled })
		}, "G9", "has no tombstone.deletion.cancelled.v1 of it"},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := planBench(t)
			b.create("item", "a")
			_, d := b.gone("a")
			b.sound(1)
			c.change(b, d)
			v := b.verify()
			for _, found := range v.Violations {
				if found.Guarantee == c.guarantee && found.Asset == "a" && strings.Contains(found.Found, c.says) {
					return
				}
			}
			t.Errorf("want %s with %q, got %s", c.guarantee, c.says, pretty(v))
		})
	}
}

func TestAnAdoptedAssetCountsFromItsFirstContactOn(t *testing.T) {
	b, _ := planBench(t)
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		return tx.SaveNodes(ctx, []dependency.Node{{ID: "old", Kind: "item", Owner: "acme", Status: dependency.Live, Bytes: 7},
			{ID: "child", Kind: "item", Owner: "acme", Status: dependency.Live, Bytes: 5}})
	})
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		return tx.SaveLinks(ctx, []dependency.Link{{From: "child", Type: "PART_OF", To: "old"}})
	})
	b.sound(2)
	p := b.plan("old", false)
	if p.Assets[0].Generation != "" || b.usage("acme") != (dependency.Usage{}) {
		t.Errorf("planned: %s, usage %+v", pretty(p), b.usage("acme"))
	}
	d, err := b.Delete(b.ctx, "old", dependency.DeleteRequest{IfPlan: p.Hash})
	if err != nil {
		t.Fatal(err)
	}
	if u := b.usage("acme"); u != (dependency.Usage{Assets: 2, Bytes: 12, Pending: 12}) {
		t.Errorf("usage while deleting: %+v", u)
	}
	b.sound(2)
	for _, id := range []string{"old", "child"} {
		b.erased(d, id, b.asset(id).Generation)
	}
	if u := b.usage("acme"); u != (dependency.Usage{}) {
		t.Errorf("usage afterwards: %+v", u)
	}
	b.sound(2)
}

func TestAnswersHoldTheFirstThousandViolations(t *testing.T) {
	b := newClosureBench(t)
	b.change(func(ctx context.Context, tx dependency.Tx) error {
		var nodes []dependency.Node
		for i := range 1005 {
			nodes = append(nodes, dependency.Node{ID: fmt.Sprint("n", i), Kind: "bare", Owner: "acme", Generation: "g", Status: dependency.Live, Sequence: 1})
		}
		if err := tx.AddUsage(ctx, map[string]dependency.Usage{"acme": {Assets: 1005}}); err != nil {
			return err
		}
		return tx.SaveNodes(ctx, nodes)
	})
	if v := b.verify(); v.Total != 1005 || len(v.Violations) != 1000 || v.Checked != 1005 {
		t.Errorf("%d violations of %d, %d assets", len(v.Violations), v.Total, v.Checked)
	}
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
