package dependency

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// erasuresPage bounds one read of a deletion's erasures.
const erasuresPage = 1000

// allErasures reads every erasure of a deletion; max_assets_per_deletion bounds them.
func allErasures(ctx context.Context, tx Tx, deletion string) (all []Erasure, err error) {
	for after := -1; ; {
		page, err := tx.ListErasures(ctx, deletion, after, erasuresPage)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < erasuresPage {
			return all, nil
		}
		after = page[len(page)-1].Position
	}
}

// Cancel takes a scheduled deletion back, whole: every asset that it took is live again, with its links. Only the
// deletion's status decides, under the locks that the claim which begins it takes too, so exactly one of both wins.
func (s *Service) Cancel(ctx context.Context, id string) (Deletion, error) {
	by, err := caller(ctx)
	if err != nil {
		return Deletion{}, err
	}
	var out Deletion
	var w *world
	err = s.graph.Update(ctx, func(tx Tx) error {
		w = newWorld(tx, s.now())
		d, err := s.cancel(ctx, w, by, id)
		if err == nil {
			out, err = s.readView(ctx, tx, d, -1)
		}
		return err
	})
	if err == nil {
		s.handOverEntries(w.entries)
		s.waiting.wake(id)
		for _, d := range w.deletions { // none: it was cancelled before
			s.cfg.Meter.Ended(Cancelled, w.now.Sub(d.RequestedAt))
		}
	}
	return out, err
}

func (s *Service) cancel(ctx context.Context, w *world, by Caller, id string) (DeletionRecord, error) {
	if _, err := visibleDeletion(ctx, w.tx, by, id); err != nil {
		return DeletionRecord{}, err
	}
	erasures, err := allErasures(ctx, w.tx, id)
	if err != nil {
		return DeletionRecord{}, err
	}
	_, locks := erasureLocks(erasures)
	links, err := w.lockWithTargets(ctx, locks)
	if err != nil {
		return DeletionRecord{}, err
	}
	d, err := visibleDeletion(ctx, w.tx, by, id) // again, under the locks
	if err != nil {
		return DeletionRecord{}, err
	}
	if d.Status == Cancelled {
		return d, nil
	}
	if d.Status != Scheduled {
		return d, problem.New(problem.TooLate, "deletion %s is %s; what it has begun cannot be taken back", id, d.Status)
	}
	if err := w.cancellable(ctx, d); err != nil {
		return d, err
	}
	d.Status = Cancelled
	if d.part() != "" {
		w.revivePart(d)
	} else if err := w.reviveAll(ctx, d, erasures, links); err != nil {
		return d, err
	}
	w.deletions = append(w.deletions, d)
	w.tell(d.Root, Entry{Type: events.TypeDeletionCancelled, Deletion: id, Generation: w.nodes[d.Root].Generation, By: by.Subject, Reason: d.Reason,
		Part: d.part()})
	return d, w.dropFlags(ctx, id)
}

// reviveAll makes every asset of a deletion live again, with its links and those that were detached.
func (w *world) reviveAll(ctx context.Context, d DeletionRecord, erasures []Erasure, links []Link) error {
	if err := w.revivable(d.ID, links); err != nil {
		return err
	}
	var taken []string
	for _, e := range erasures {
		w.revive(e)
		taken = append(taken, e.Asset)
	}
	detached, err := w.tx.HiddenLinks(ctx, taken, d.ID)
	for _, l := range detached {
		l.Hidden = ""
		w.saveLinks = append(w.saveLinks, l)
	}
	return err
}

// lockWithTargets locks the assets of a deletion and everything they link to: nothing may be brought back that depends on
// something that is going.
func (w *world) lockWithTargets(ctx context.Context, locks Locks) ([]Link, error) {
	links, err := w.tx.Outgoing(ctx, locks.Assets)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		locks.Assets = append(locks.Assets, l.To)
	}
	locks.Assets = distinct(locks.Assets)
	return links, w.load(ctx, locks)
}

// revivable refuses when a link of a revived asset would lead to another tombstone.
func (w *world) revivable(deletion string, links []Link) error {
	for _, l := range links {
		if n := w.nodes[l.To]; n.Status != Live && n.Deletion != deletion && (l.Hidden == "" || l.Hidden == deletion) {
			return problem.New(problem.LinkTargetDeleting, "asset %q links to %q, which deletion %s takes away; cancel that one first", l.From, l.To, n.Deletion).
				With("deletion", n.Deletion)
		}
	}
	return nil
}

func (w *world) revive(e Erasure) {
	n := w.nodes[e.Asset]
	n.Status, n.Deletion = Live, ""
	n.RequestedAt, n.DueAt = time.Time{}, time.Time{}
	w.save(n)
	w.account(n.Owner, 0, 0, -n.Bytes)
}

// dropFlags writes the world and removes every flag of a deletion.
func (w *world) dropFlags(ctx context.Context, deletion string) error {
	for {
		commands, err := w.tx.Commands(ctx, CommandFilter{Deletions: []string{deletion}, Limit: erasuresPage})
		if err != nil {
			return err
		}
		if err := w.tx.RemoveCommands(ctx, flagIDs(commands)); err != nil {
			return err
		}
		if len(commands) < erasuresPage {
			return w.flush(ctx)
		}
	}
}
