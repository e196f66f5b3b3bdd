package dependency

import (
	"context"
	"maps"
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
// deletion's status decides, under the locks that the claim which begins it takes too, so exactly one of both wins. Deletions
// of a batch that stand in each other's way, in a circle, are cancelled together.
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
		s.handOverEntries(w.entries, w.deletions)
		for _, d := range w.deletions { // none: it was cancelled before
			s.waiting.wake(d.ID)
			s.cfg.Meter.Ended(Cancelled, w.now.Sub(d.RequestedAt))
		}
	}
	return out, err
}

func (s *Service) cancel(ctx context.Context, w *world, by Caller, id string) (DeletionRecord, error) {
	d, err := visibleDeletion(ctx, w.tx, by, id)
	if err != nil {
		return d, err
	}
	together, err := s.circle(ctx, w.tx, by, d)
	if err != nil {
		return d, err
	}
	erasures := map[string][]Erasure{}
	var all []Erasure
	for _, each := range together {
		if erasures[each], err = allErasures(ctx, w.tx, each); err != nil {
			return d, err
		}
		all = append(all, erasures[each]...)
	}
	_, locks := erasureLocks(all)
	links, err := w.lockWithTargets(ctx, locks)
	if err != nil {
		return d, err
	}
	if d, err = visibleDeletion(ctx, w.tx, by, id); err != nil || d.Status == Cancelled { // again, under the locks
		return d, err
	}
	if d.Status != Scheduled {
		return d, problem.New(problem.TooLate, "deletion %s is %s; what it has begun cannot be taken back", id, d.Status)
	}
	records, err := w.tx.Deletions(ctx, together)
	if err != nil {
		return d, err
	}
	maps.DeleteFunc(records, func(_ string, each DeletionRecord) bool { return each.Status != Scheduled })
	return s.cancelAll(ctx, w, by, d, records, erasures, links)
}

// cancelAll cancels deletions together, and gives the one that was asked for.
func (s *Service) cancelAll(ctx context.Context, w *world, by Caller, asked DeletionRecord, records map[string]DeletionRecord, erasures map[string][]Erasure,
	links []Link) (DeletionRecord, error) {
	if err := w.cancellable(ctx, records); err != nil {
		return asked, err
	}
	if err := w.revivable(records, links); err != nil {
		return asked, err
	}
	for _, id := range sortedKeys(records) {
		d := records[id]
		d.Status = Cancelled
		if d.part() != "" {
			w.revivePart(d)
		} else if err := w.reviveAll(ctx, d, erasures[id]); err != nil {
			return d, err
		}
		w.deletions = append(w.deletions, d)
		w.tell(d.Root, Entry{Type: events.TypeDeletionCancelled, Deletion: id, Generation: w.nodes[d.Root].Generation, By: by.Subject, Reason: d.Reason,
			Part: d.part()})
		records[id] = d
	}
	if err := w.flush(ctx); err != nil {
		return asked, err
	}
	return records[asked.ID], w.tx.DropCommands(ctx, sortedKeys(records))
}

// reviveAll makes every asset of a deletion live again, with the links that were detached.
func (w *world) reviveAll(ctx context.Context, d DeletionRecord, erasures []Erasure) error {
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
	locks.Assets = distinct(append(locks.Assets, targetsOf(links)...))
	return links, w.load(ctx, locks)
}

// revivable refuses when a link of an asset that these deletions give back would lead to another tombstone.
func (w *world) revivable(cancelled map[string]DeletionRecord, links []Link) error {
	for _, l := range links {
		from, to := w.nodes[l.From], w.nodes[l.To]
		_, back := cancelled[from.Deletion]
		_, too := cancelled[to.Deletion]
		if back && !too && to.Status != Live && l.holds(from.Deletion) {
			return problem.New(problem.LinkTargetDeleting, "asset %q links to %q, which deletion %s takes away; cancel that one first", l.From, l.To, to.Deletion).
				With("deletion", to.Deletion)
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
