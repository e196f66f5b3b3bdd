package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/problem"
)

// DeleteOwner opens a batch of all that an owner has: the right to erasure. From its commit on nobody writes for the owner,
// so what it has to look through only becomes less; RunBatches drives it.
func (s *Service) DeleteOwner(ctx context.Context, r OwnerRequest) (string, error) {
	by, err := caller(ctx)
	if err != nil {
		return "", err
	}
	if r.Owner == "" {
		return "", problem.New(problem.InvalidRequest, "name the owner").At("owner")
	}
	owner, err := by.ownerFor(r.Owner)
	if err != nil {
		return "", err
	}
	var batch string
	err = s.graph.Update(ctx, func(tx Tx) error {
		if err := tx.Lock(ctx, Locks{Owners: []string{owner}}); err != nil {
			return err
		}
		open, err := tx.ErasingOwners(ctx, []string{owner})
		if batch = open[owner]; batch != "" || err != nil {
			return err
		}
		batch = newID()
		return tx.SaveBatches(ctx, []BatchRecord{{ID: batch, Owner: owner, Open: true, RequestedBy: by.Subject, Reason: r.Reason,
			TraceParent: r.TraceParent, RequestedAt: s.now()}})
	})
	if err != nil {
		return "", err
	}
	s.wakeBatches()
	return batch, nil
}

// readErasing finds which of the owners are being erased. It comes after the locks of the owners where a new asset could
// slip past the batch.
func (w *world) readErasing(ctx context.Context, owners []string) (err error) {
	w.erasing, err = w.tx.ErasingOwners(ctx, owners)
	return err
}

// closed refuses a write for an owner that is being erased.
func (w *world) closed(owner string) error {
	batch, ok := w.erasing[owner]
	if !ok {
		return nil
	}
	return ownerErasing(owner, batch)
}

func ownerErasing(owner, batch string) error {
	return problem.New(problem.OwnerErasing, "everything of owner %q is being deleted by batch %s; write again when that is done", owner, batch).
		With("batch", batch)
}

// ownersOf are the owners of what the world holds.
func (w *world) ownersOf(more ...string) []string {
	for _, n := range w.nodes {
		more = append(more, n.Owner)
	}
	return distinct(more)
}
