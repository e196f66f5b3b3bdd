package dependency_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

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
