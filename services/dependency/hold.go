package dependency

import (
	"context"
	"maps"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

// heldDue is when the flags of a held deletion are due: never. Its true DueAt stays on the deletion.
var heldDue = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Hold puts a live asset, or one whose deletion is only scheduled, under legal hold. A scheduled deletion stays scheduled
// until none of its assets is held. A second hold leaves the first as it is.
func (s *Service) Hold(ctx context.Context, id, reason string) error {
	return s.setHold(ctx, id, func(n *Node, by Caller) {
		if n.Hold == nil {
			n.Hold = &Hold{By: by.Subject, Reason: reason, At: s.now()}
		}
	})
}

// Release ends a hold; an asset without one is fine.
func (s *Service) Release(ctx context.Context, id string) error {
	return s.setHold(ctx, id, func(n *Node, _ Caller) { n.Hold = nil })
}

func (s *Service) setHold(ctx context.Context, id string, change func(*Node, Caller)) error {
	by, err := operator(ctx)
	if err != nil {
		return err
	}
	return s.graph.Update(ctx, func(tx Tx) error {
		w := newWorld(tx, s.now())
		if err := w.load(ctx, Locks{Assets: []string{id}}); err != nil {
			return err
		}
		n, ok := w.nodes[id]
		if !ok {
			return assetNotFound(id)
		}
		waiting, err := w.scheduled(ctx, n)
		if err != nil {
			return err
		}
		if n.Status != Live && waiting[n.Deletion].Status != Scheduled {
			return problem.New(problem.TooLate, "asset %q is %s; it is too late for a hold", id, n.Status)
		}
		change(&n, by)
		w.save(n)
		for _, d := range waiting {
			if err := w.moveFlags(ctx, d); err != nil {
				return err
			}
		}
		return w.flush(ctx)
	})
}

// scheduled locks and reads the deletions of a node, or of parts of it, that are only scheduled. The locks are those that
// the claim of a flag takes, so a deletion is either held or begun.
func (w *world) scheduled(ctx context.Context, n Node) (map[string]DeletionRecord, error) {
	ids := n.openParts()
	if n.Status == Deleting {
		ids = append(ids, n.Deletion)
	}
	if err := w.tx.Lock(ctx, Locks{Deletions: distinct(ids)}); err != nil {
		return nil, err
	}
	records, err := w.tx.Deletions(ctx, ids)
	maps.DeleteFunc(records, func(_ string, d DeletionRecord) bool { return d.Status != Scheduled })
	return records, err
}

// moveFlags makes the flags of a scheduled deletion due never while any of its assets is held, and else at its due_at.
func (w *world) moveFlags(ctx context.Context, d DeletionRecord) error {
	erasures, err := allErasures(ctx, w.tx, d.ID)
	if err != nil {
		return err
	}
	keys, locks := erasureLocks(erasures)
	nodes, err := w.tx.Nodes(ctx, locks.Assets)
	if err != nil {
		return err
	}
	due := d.DueAt
	for id, n := range nodes {
		if own, ok := w.nodes[id]; ok {
			n = own
		}
		if n.Hold != nil {
			due = heldDue
		}
	}
	commands, err := w.tx.Commands(ctx, CommandFilter{Erasures: keys})
	if err != nil {
		return err
	}
	for i := range commands {
		commands[i].DueAt = due
	}
	w.commands = append(w.commands, commands...)
	return nil
}
