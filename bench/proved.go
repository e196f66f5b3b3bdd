package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// eraseProved is the bare way with what the guarantees need whatever the design: the records of T1 before anything is
// erased, an inventory before anything is deleted, a fresh look that all is gone, and the records of T4 after it. Each is in
// bulk, for all assets, before the next begins.
func (f *floor) eraseProved(ctx context.Context, assets []asset) error {
	var accepted []records
	for chunk := range slices.Chunk(assets, bareBatch) {
		r := f.scene.records(chunk)
		if err := f.accept(ctx, r); err != nil {
			return fmt.Errorf("records of T1: %w", err)
		}
		accepted = append(accepted, r)
	}
	found, err := f.belonging(ctx, keys(assets))
	if err != nil {
		return err
	}
	if err := f.writeInventory(ctx, assets, found); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.eraseDocuments(gctx, assets) })
	g.Go(func() error { return f.deleteFound(gctx, found) })
	if err := g.Wait(); err != nil {
		return err
	}
	c, err := f.stores.look(ctx, f.scene)
	if err != nil {
		return err
	}
	if err := c.absent(assets); err != nil {
		return err
	}
	for _, r := range accepted {
		if err := f.complete(ctx, r); err != nil {
			return fmt.Errorf("records of T4: %w", err)
		}
	}
	return nil
}

// records are what the graph keeps of the deletions of some assets.
type records struct {
	nodes     []dependency.Node
	deletions []dependency.DeletionRecord
	erasures  []dependency.Erasure
	flags     []dependency.Command
	trail     []dependency.Entry // what is new of it
}

// records are those of T1: tombstones, deletions, what they take, flags, and the first line of each trail.
func (s *scene) records(assets []asset) (r records) {
	now := time.Now().UTC()
	kind, _ := s.policy.Kind("mesh")
	for _, a := range assets {
		d := dependency.DeletionRecord{ID: newID(), Root: a.id, Owner: owner, Status: dependency.Deleting, RequestedBy: "bench", Reason: "bench",
			Policy: s.policy.Hash, RequestedAt: now, DueAt: now, Total: 1}
		var steps []dependency.Step
		for _, p := range kind.Parts {
			steps = append(steps, dependency.Step{Part: p.Name, Generation: a.generation, Status: dependency.StepWaiting})
		}
		r.nodes = append(r.nodes, dependency.Node{ID: a.id, Kind: kind.Name, Owner: owner, Generation: a.generation, Status: dependency.Deleting,
			Deletion: d.ID, RequestedAt: now, DueAt: now})
		r.deletions = append(r.deletions, d)
		r.erasures = append(r.erasures, dependency.Erasure{Deletion: d.ID, Asset: a.id, Kind: kind.Name, Owner: owner, Generation: a.generation,
			Why: "requested", CheckAt: now.Add(time.Hour), Steps: steps})
		r.flags = append(r.flags, dependency.Command{ID: newID(), Deletion: d.ID, Asset: a.id, DueAt: now, Since: now})
		r.tell(len(r.nodes)-1, events.TypeDeletionRequested, now)
	}
	return r
}

// merge puts records together.
func merge(all []records) (r records) {
	for _, one := range all {
		r.nodes, r.deletions, r.erasures = append(r.nodes, one.nodes...), append(r.deletions, one.deletions...), append(r.erasures, one.erasures...)
		r.flags, r.trail = append(r.flags, one.flags...), append(r.trail, one.trail...)
	}
	return r
}

// tell adds a line to the trail of one of the assets.
func (r *records) tell(i int, event string, at time.Time) {
	d := r.deletions[i]
	r.nodes[i].Sequence++
	r.trail = append(r.trail, dependency.Entry{ID: newID(), Asset: d.Root, Sequence: r.nodes[i].Sequence, Type: event, Time: at, Deletion: d.ID,
		Generation: r.nodes[i].Generation, By: d.RequestedBy, Reason: d.Reason})
}

// end turns the records into those of T4: all is deleted, and that is two lines more of the trail. It gives the flags that
// go.
func (r *records) end() (flags []string) {
	now := time.Now().UTC()
	r.trail = nil
	for i := range r.nodes {
		r.nodes[i].Status = dependency.Deleted
		r.tell(i, events.TypeAssetErased, now)
		r.tell(i, events.TypeDeletionCompleted, now)
		d, e := &r.deletions[i], &r.erasures[i]
		d.Status, d.SentAt, d.CompletedAt, d.Done = dependency.Deleted, now, now, 1
		e.Done = true
		for s := range e.Steps {
			e.Steps[s].Status, e.Steps[s].ErasedAt = dependency.StepErased, &now
		}
		flags = append(flags, r.flags[i].ID)
	}
	r.flags = nil
	return flags
}

func (f *floor) accept(ctx context.Context, r records) error {
	return f.graph.Update(ctx, func(tx dependency.Tx) error { return r.save(ctx, tx) })
}

func (f *floor) complete(ctx context.Context, r records) error {
	flags := r.end()
	return f.graph.Update(ctx, func(tx dependency.Tx) error {
		if err := tx.RemoveCommands(ctx, flags); err != nil {
			return err
		}
		return r.save(ctx, tx)
	})
}

func (r records) save(ctx context.Context, tx dependency.Tx) error {
	for _, write := range []func() error{
		func() error { return tx.SaveNodes(ctx, r.nodes) },
		func() error { return tx.SaveDeletions(ctx, r.deletions) },
		func() error { return tx.SaveErasures(ctx, r.erasures) },
		func() error { return tx.SaveCommands(ctx, r.flags) },
		func() error { return tx.Append(ctx, r.trail) },
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// writeInventory writes what was found of each asset, before anything of it is deleted.
func (f *floor) writeInventory(ctx context.Context, assets []asset, found []objectVersion) error {
	versions := map[string][]string{} // by key
	for _, v := range found {
		versions[v.key] = append(versions[v.key], v.id)
	}
	for chunk := range slices.Chunk(assets, documentBatch) {
		records := make([]any, len(chunk))
		for i, a := range chunk {
			var objects bson.A
			for _, key := range slices.Compact(slices.Clone(a.objects)) {
				objects = append(objects, bson.D{{Key: "key", Value: key}, {Key: "versions", Value: versions[key]}})
			}
			records[i] = bson.D{{Key: "_id", Value: a.id + "/" + a.generation}, {Key: "document", Value: a.document}, {Key: "objects", Value: objects}}
		}
		if _, err := f.stores.documents.Collection(f.scene.ledger()).InsertMany(ctx, records); err != nil {
			return fmt.Errorf("write inventory: %w", err)
		}
	}
	return nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
