package dependency

import "context"

// circle finds the deletions that can only be cancelled together with one of their batch: what they took depends on each
// other in a circle, so that none of it can come back first. It gives at least the one. They are read without a lock; who
// cancels them looks again.
func (s *Service) circle(ctx context.Context, tx Tx, by Caller, d DeletionRecord) ([]string, error) {
	alone := []string{d.ID}
	if d.Batch == "" || d.Status != Scheduled {
		return alone, nil
	}
	leads, total := map[string][]string{}, 0
	for level := []DeletionRecord{d}; len(level) > 0; {
		for _, each := range level {
			leads[each.ID] = nil
			total += each.Total
		}
		if total > s.policy.Limits.MaxAssetsPerDeletion+maxSet { // more than was accepted together: no circle
			return alone, nil
		}
		found, err := s.leadingTo(ctx, tx, level, leads)
		if err != nil {
			return nil, err
		}
		level = nil
		for _, each := range found {
			if _, known := leads[each.ID]; !known && each.Batch == d.Batch && each.Status == Scheduled && by.sees(each.Owner) {
				level = append(level, each)
			}
		}
	}
	var together []string
	for id := range reach(alone, reversed(leads)) {
		if _, known := leads[id]; known {
			together = append(together, id)
		}
	}
	return distinct(together), nil
}

// leadingTo adds to leads the deletions whose assets those of some deletions link to, and reads them.
func (s *Service) leadingTo(ctx context.Context, tx Tx, from []DeletionRecord, leads map[string][]string) (map[string]DeletionRecord, error) {
	taken := map[string]string{} // asset → deletion
	for _, d := range from {
		erasures, err := allErasures(ctx, tx, d.ID)
		if err != nil {
			return nil, err
		}
		for _, e := range erasures {
			taken[e.Asset] = d.ID
		}
	}
	links, err := tx.Outgoing(ctx, sortedKeys(taken))
	if err != nil {
		return nil, err
	}
	targets, err := tx.Nodes(ctx, targetsOf(links))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, l := range links {
		if own, n := taken[l.From], targets[l.To]; l.holds(own) && n.Status != Live && n.Deletion != own {
			leads[own] = append(leads[own], n.Deletion)
			ids = append(ids, n.Deletion)
		}
	}
	return tx.Deletions(ctx, distinct(ids))
}

// holds tells whether a link counts once this deletion is cancelled.
func (l Link) holds(cancelled string) bool { return l.Hidden == "" || l.Hidden == cancelled }

func targetsOf(links []Link) (ids []string) {
	for _, l := range links {
		ids = append(ids, l.To)
	}
	return distinct(ids)
}
