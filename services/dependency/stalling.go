package dependency

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/events"
)

// RunStalled tells the trail of deletions that become stalled, looking at least once a minute until ctx ends.
func (s *Service) RunStalled(ctx context.Context) error {
	tick := time.NewTicker(min(time.Minute, s.policy.StalledAfter))
	defer tick.Stop()
	for {
		if err := s.TellStalled(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("looking for what is stalled failed; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// TellStalled writes into the trail, once each, that deletions are past their deadline (policy stalled_after).
func (s *Service) TellStalled(ctx context.Context) error {
	for {
		var found []DeletionRecord
		err := s.graph.View(ctx, func(tx Tx) (err error) {
			found, err = tx.Overdue(ctx, s.now().Add(-s.policy.StalledAfter), resendPage)
			return err
		})
		if err != nil || len(found) == 0 {
			return err
		}
		if err := s.tellStalled(ctx, found); err != nil {
			return err
		}
	}
}

// tellStalled looks again under the locks: another replica may have told, or the deletion may be done by now.
func (s *Service) tellStalled(ctx context.Context, found []DeletionRecord) error {
	var w *world
	err := s.graph.Update(ctx, func(tx Tx) error {
		w = newWorld(tx, s.now())
		var locks Locks
		for _, d := range found {
			locks.Assets, locks.Deletions = append(locks.Assets, d.Root), append(locks.Deletions, d.ID)
		}
		locks.Assets = distinct(locks.Assets)
		if err := w.load(ctx, locks); err != nil {
			return err
		}
		records, err := tx.Deletions(ctx, locks.Deletions)
		if err != nil {
			return err
		}
		for _, id := range locks.Deletions {
			d := records[id]
			if !d.StalledAt.IsZero() || !s.stalled(d) {
				continue
			}
			d.StalledAt = w.now
			w.deletions = append(w.deletions, d)
			w.tell(d.Root, Entry{Type: events.TypeDeletionStalled, Deletion: d.ID, Generation: w.nodes[d.Root].Generation, By: d.RequestedBy,
				Reason: d.Reason, Detail: "not completed " + s.policy.StalledAfter.String() + " after it was due"})
		}
		return w.flush(ctx)
	})
	if err != nil {
		return err
	}
	s.handOverEntries(w.entries, w.deletions)
	return nil
}
