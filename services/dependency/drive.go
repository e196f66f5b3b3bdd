package dependency

import (
	"context"
	"errors"
	"time"
)

const (
	batchesLook = time.Second // between two looks at the open batches
	batchesOpen = 100         // looked at in one round; the others when some of them have ended
	ownerPage   = 200         // assets decided on in one transaction, beside what they take along
)

// RunBatches drives open batches until ctx ends. All that it knows is in the graph, so it goes on after a restart where
// it was, and several replicas may drive the same batch: each page is decided under the locks of its assets.
func (s *Service) RunBatches(ctx context.Context) error {
	tick := time.NewTicker(batchesLook)
	defer tick.Stop()
	for {
		if err := s.DriveBatches(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("driving batches failed; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-s.batchesWoken:
		}
	}
}

// wakeBatches lets the driver look at once.
func (s *Service) wakeBatches() {
	select {
	case s.batchesWoken <- struct{}{}:
	default:
	}
}

// DriveBatches takes every open batch as far as it goes now, in turns, so that a large owner keeps nobody waiting.
func (s *Service) DriveBatches(ctx context.Context) error {
	for {
		var open []BatchRecord
		err := s.graph.View(ctx, func(tx Tx) (err error) {
			open, err = tx.OpenBatches(ctx, batchesOpen)
			return err
		})
		if err != nil {
			return err
		}
		moved := false
		for _, b := range open {
			went, err := s.driveBatch(ctx, b)
			if err != nil {
				return err
			}
			moved = moved || went
		}
		if !moved {
			return nil
		}
	}
}

// errTaken: another replica was faster with this step.
var errTaken = errors.New("another replica has taken this step")

// driveBatch takes one step: a page of assets, or the end once nothing of the owner is left to be deleted. False: there is
// nothing to do now.
func (s *Service) driveBatch(ctx context.Context, b BatchRecord) (moved bool, err error) {
	var accepted acceptedWork
	err = s.graph.Update(ctx, func(tx Tx) error {
		accepted = acceptedWork{}
		w := &acceptWorld{world: newWorld(tx, s.now()), s: s, running: map[string]DeletionRecord{}}
		next, err := w.batchStep(ctx, b)
		if moved = next != b; err != nil || !moved {
			return err
		}
		if err := w.keepBatch(ctx, b, next); err != nil {
			return err
		}
		accepted.add(w.world)
		return nil
	})
	if errors.Is(err, errTaken) {
		return true, nil
	}
	if err == nil {
		s.handOver(accepted)
	}
	return moved, err
}

// keepBatch writes a step, unless another replica took it. The owner's lock comes after those of the assets.
func (w *acceptWorld) keepBatch(ctx context.Context, before, after BatchRecord) error {
	if err := w.tx.Lock(ctx, Locks{Owners: []string{before.Owner}}); err != nil {
		return err
	}
	now, err := w.tx.Batches(ctx, []string{before.ID})
	if err != nil {
		return err
	}
	if now[before.ID] != before {
		return errTaken
	}
	if err := w.tx.SaveBatches(ctx, []BatchRecord{after}); err != nil {
		return err
	}
	return w.flush(ctx)
}

// batchStep decides on the next page, and gives the batch as it is after that.
func (w *acceptWorld) batchStep(ctx context.Context, b BatchRecord) (BatchRecord, error) {
	if b.Walk.Listed {
		return w.endBatch(ctx, b)
	}
	page, err := w.tx.ListNodes(ctx, NodeFilter{Owner: b.Owner, Statuses: []Status{Live}, After: b.Walk.After, Limit: ownerPage})
	if err != nil {
		return b, err
	}
	if len(page) == 0 {
		b.Walk = b.Walk.pass()
		return b, nil
	}
	if _, w.paused, err = paused(ctx, w.tx); err != nil {
		return b, err
	}
	roots := make([]string, len(page))
	for i, n := range page {
		roots[i] = n.ID
	}
	return w.batchPage(ctx, b, roots)
}

// pass ends a pass over the owner's assets. Where some took too much along there is another one: the same again while
// others went, and then one in which they are refused.
func (walk Walk) pass() Walk {
	switch {
	case walk.Deferred && walk.Moved:
		return Walk{}
	case walk.Deferred && !walk.Last:
		return Walk{Last: true}
	}
	return Walk{Listed: true}
}

// batchPage decides on as many of the roots, from the first on, as fit into one transaction with what goes along.
func (w *acceptWorld) batchPage(ctx context.Context, b BatchRecord, roots []string) (BatchRecord, error) {
	limit := w.s.policy.Limits.MaxAssetsPerDeletion
	within := scope{withDependants: true, owner: b.Owner, most: limit}
	for ; ; roots = roots[:len(roots)/2] {
		refused := map[string]error{}
		c, err := w.closeSet(ctx, roots, within, limit, refused)
		if err != nil {
			return b, err
		}
		fits := len(c.order) <= limit
		if !fits && len(roots) > 1 {
			continue
		}
		b.Walk.After = roots[len(roots)-1]
		if fits {
			b.Walk.Moved = b.Walk.Moved || len(c.order) > 0
			return b, w.acceptPage(ctx, b, c, roots, refused)
		}
		if b.Walk.Deferred = true; b.Walk.Last {
			refused[roots[0]] = tooManyAssets(len(c.order), limit)
		}
		return b, w.tx.SaveRefusals(ctx, refusalsOf(b.ID, refused))
	}
}

// acceptPage makes the deletions of a page, and keeps what of it is refused. What was refused earlier may go now.
func (w *acceptWorld) acceptPage(ctx context.Context, b BatchRecord, c *closure, roots []string, refused map[string]error) error {
	w.entombRoots(c, acceptItem{by: Caller{Subject: b.RequestedBy}, batch: b.ID, DeleteRequest: DeleteRequest{Reason: b.Reason, TraceParent: b.TraceParent}})
	own := map[string]error{} // the others have their own turn
	for _, id := range roots {
		if refused[id] != nil {
			own[id] = refused[id]
		}
	}
	if err := w.tx.RemoveRefusals(ctx, b.ID, c.order); err != nil {
		return err
	}
	return w.tx.SaveRefusals(ctx, refusalsOf(b.ID, own))
}

// endBatch closes a batch when nothing of its owner is being deleted any more.
func (w *acceptWorld) endBatch(ctx context.Context, b BatchRecord) (BatchRecord, error) {
	left, err := w.tx.ListNodes(ctx, NodeFilter{Owner: b.Owner, Statuses: []Status{Deleting}, Limit: 1})
	if err != nil || len(left) > 0 {
		return b, err
	}
	b.Open, b.CompletedAt = false, w.now
	w.s.log.Info("batch completed", "batch", b.ID, "owner", b.Owner)
	return b, nil
}

// cancellable refuses to bring back what belongs to an owner that is being erased, unless that very batch took it.
func (w *world) cancellable(ctx context.Context, deletions map[string]DeletionRecord) error {
	if err := w.readErasing(ctx, w.ownersOf()); err != nil {
		return err
	}
	for _, n := range w.nodes {
		d, ok := deletions[n.Deletion]
		if batch := w.erasing[n.Owner]; ok && batch != "" && batch != d.Batch {
			return ownerErasing(n.Owner, batch)
		}
	}
	return nil
}
