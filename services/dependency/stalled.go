package dependency

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Stalled lists deletions that need a look, newest first: past their deadline (policy stalled_after), blocked, or failing.
func (s *Service) Stalled(ctx context.Context, cursor string) (Page[Deletion], error) {
	if _, err := operator(ctx); err != nil {
		return Page[Deletion]{}, err
	}
	after, err := decodeCursor("stalled", cursor, "")
	if err != nil {
		return Page[Deletion]{}, err
	}
	out := Page[Deletion]{Items: []Deletion{}}
	err = s.graph.View(ctx, func(tx Tx) error {
		out = Page[Deletion]{Items: []Deletion{}}
		at := after
		for len(out.Items) < defaultLimit {
			records, err := tx.ListDeletions(ctx, DeletionFilter{Statuses: []Status{Deleting}, After: at, Limit: defaultLimit})
			if err != nil {
				return err
			}
			for _, d := range records {
				at = d.ID
				v, err := s.readView(ctx, tx, d, -1)
				if err != nil {
					return err
				}
				if needsALook(v) {
					out.Items = append(out.Items, v)
				}
			}
			if len(records) < defaultLimit {
				return nil
			}
		}
		out.NextCursor = encodeCursor("stalled", at)
		return nil
	})
	return out, err
}

func needsALook(d Deletion) bool {
	if d.Stalled || d.Blocked != nil {
		return true
	}
	for _, step := range d.Steps {
		if step.Status != StepErased && step.LastError != "" {
			return true
		}
	}
	return false
}

// Retry drives deletions that are `deleting` now, without waiting for their next try: those named, or all that need a look.
// A copy of the command that waits in the broker without progress is replaced.
func (s *Service) Retry(ctx context.Context, d Drive) (Driven, error) {
	if _, err := operator(ctx); err != nil {
		return Driven{}, err
	}
	if err := d.check(); err != nil {
		return Driven{}, err
	}
	ids := d.Deletions
	if d.All {
		var err error
		if ids, err = s.stalledIDs(ctx, d.OlderThan); err != nil {
			return Driven{}, err
		}
	}
	driven, err := s.retry(ctx, distinct(slices.Clone(ids)))
	if err != nil {
		return Driven{driven}, err
	}
	if driven > 0 && s.cfg.Nudge != nil {
		s.cfg.Nudge()
	}
	return Driven{driven}, nil
}

func (s *Service) stalledIDs(ctx context.Context, olderThan time.Duration) (ids []string, err error) {
	for cursor := ""; ; {
		p, err := s.Stalled(ctx, cursor)
		if err != nil {
			return nil, err
		}
		for _, d := range p.Items {
			if !d.RequestedAt.After(s.now().Add(-olderThan)) {
				ids = append(ids, d.ID)
			}
		}
		if cursor = p.NextCursor; cursor == "" {
			return ids, nil
		}
	}
}

// retry flags what these deletions have not done, many in one transaction, and counts those that it drives; unknown or
// finished ones drive nothing.
func (s *Service) retry(ctx context.Context, ids []string) (driven int, err error) {
	again := map[string]bool{}
	after := map[string]int{} // the position up to which a deletion was looked at
	for _, id := range ids {
		after[id] = -1
	}
	for len(ids) > 0 {
		some := ids[:min(len(ids), resendPage)]
		var found []Erasure
		err := s.graph.View(ctx, func(tx Tx) (err error) {
			found, err = nextErasures(ctx, tx, some, after)
			return err
		})
		if err != nil {
			return len(again), err
		}
		if len(found) == 0 {
			ids = ids[len(some):]
			continue
		}
		deletions, err := s.flagAgain(ctx, found, causeOperator)
		if err != nil {
			return len(again), err
		}
		maps.Copy(again, deletions)
		for _, e := range found {
			after[e.Deletion] = e.Position
		}
	}
	return len(again), nil
}

// nextErasures gives one page of what comes next in these deletions.
func nextErasures(ctx context.Context, tx Tx, deletions []string, after map[string]int) (page []Erasure, err error) {
	for _, id := range deletions {
		if len(page) == resendPage {
			break
		}
		list, err := tx.ListErasures(ctx, id, after[id], resendPage-len(page))
		if err != nil {
			return nil, err
		}
		page = append(page, list...)
	}
	return page, nil
}
