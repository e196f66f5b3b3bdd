package dependency

import (
	"context"
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
	driven := 0
	for _, id := range ids {
		again, err := s.retry(ctx, id)
		if err != nil {
			return Driven{driven}, err
		}
		driven += again
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

// retry flags what one deletion has not done; unknown or finished ones drive nothing.
func (s *Service) retry(ctx context.Context, id string) (int, error) {
	for after, again := -1, 0; ; {
		var list []Erasure
		err := s.graph.View(ctx, func(tx Tx) (err error) {
			list, err = tx.ListErasures(ctx, id, after, resendPage)
			return err
		})
		if err != nil || len(list) == 0 {
			return again, err
		}
		deletions, err := s.flagAgain(ctx, list, causeOperator)
		if err != nil {
			return again, err
		}
		again = max(again, len(deletions))
		after = list[len(list)-1].Position
	}
}
