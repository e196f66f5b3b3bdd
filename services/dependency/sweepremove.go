package dependency

import (
	"cmp"
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/events"
)

// unknownOwner has what lies at a place that does not tell its owner and belongs to no asset.
const unknownOwner = "default"

// removeChunk is how many orphans one transaction takes.
const removeChunk = 100

// remove begins the deletion of orphans, by the same saga as every other: so that each is decided under the lock, listed
// before the graph is asked, seen to be absent, and told in a trail.
func (w *sweep) remove(ctx context.Context, orphans []orphan) error {
	for chunk := range slices.Chunk(orphans, removeChunk) {
		if err := w.begin(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (w *sweep) begin(ctx context.Context, orphans []orphan) error {
	var assets []string
	for _, o := range orphans {
		assets = append(assets, o.Asset)
	}
	assets = distinct(assets)
	var accepted acceptedWork
	var taken int
	err := w.s.graph.Update(ctx, func(tx Tx) error {
		accepted, taken = acceptedWork{}, 0
		aw := &acceptWorld{world: newWorld(tx, w.s.now()), s: w.s, running: map[string]DeletionRecord{}}
		if err := aw.load(ctx, Locks{Assets: assets}); err != nil {
			return err
		}
		state, err := readState[sweepState](ctx, tx, settingSweep)
		if err != nil {
			return err
		}
		if err := w.run.ours(state); err != nil {
			return err
		}
		if _, aw.paused, err = paused(ctx, tx); err != nil {
			return err
		}
		sequences, err := tx.LastSequences(ctx, assets) // the trail of one whose tombstone was purged is there still
		if err != nil {
			return err
		}
		for _, l := range orphans {
			if o := orphaned(l.Lodger, aw.nodes[l.Asset]); o.orphan && !o.ahead {
				aw.takeOrphan(l.Lodger, "orphan: "+o.why, sequences[l.Asset])
				taken++
			}
		}
		accepted.add(aw.world)
		return aw.flush(ctx)
	})
	if err == nil {
		w.run.Tally.Removed += taken
		w.s.cfg.Meter.Began(JobSweep, taken)
		w.s.handOver(accepted)
	}
	return err
}

// takeOrphan is the deletion of one part in the generation that is nobody's any more, for the owner that its place tells. The
// node stays what it is; where there is none, a tombstone begins, so that there is a trail, and so that an asset which is
// created with this id later is in a later generation.
func (w *acceptWorld) takeOrphan(l events.Lodger, reason string, sequence int64) {
	n, exists := w.nodes[l.Asset]
	if !exists {
		n = Node{ID: l.Asset, Kind: l.Kind, Owner: cmp.Or(l.Owner, unknownOwner), Generation: cmp.Or(l.Generation, newID()), Status: Deleted,
			CreatedAt: w.now, UpdatedAt: w.now, Sequence: sequence}
	}
	p := partState(n, l.Part)
	generation := cmp.Or(l.Generation, p.Generation)
	w.nodes[n.ID] = n
	d := w.deletionOf(acceptItem{by: Caller{Subject: sweepActor}, id: n.ID, part: l.Part, DeleteRequest: DeleteRequest{Reason: reason}}, []string{n.ID})
	d.Parts, d.Status, d.DueAt = []string{l.Part}, Deleting, w.now // nobody can want an orphan back: there is no grace
	w.erase(d, Erasure{Deletion: d.ID, Asset: n.ID, Kind: n.Kind, Owner: cmp.Or(l.Owner, n.Owner), Generation: n.Generation, Why: "orphan",
		Parts: map[string]string{l.Part: generation}, Steps: []Step{{Part: l.Part, Generation: generation, Status: StepWaiting}}})
	if !exists {
		n.Deletion, n.RequestedAt, n.DueAt = d.ID, d.RequestedAt, d.DueAt
		p = PartState{Status: PartErasing, Generation: generation, Deletion: d.ID, Before: generation}
	}
	p.Open = append(slices.Clone(p.Open), d.ID)
	n.setPart(l.Part, p)
	w.save(n)
	w.request(d)
}
