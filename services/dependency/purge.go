package dependency

import (
	"context"
	"time"
)

const (
	// settingPurge keeps when tombstones were purged last, so that replicas do not do it one after the other.
	settingPurge = "purge"
	// purgeEvery is how often it is done.
	purgeEvery = 24 * time.Hour
	// purgePage bounds one transaction.
	purgePage = 250
)

// RunPurge purges tombstones once a day until ctx ends; not at all when the policy keeps them for ever.
func (s *Service) RunPurge(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Minute)
	defer tick.Stop()
	for {
		if err := s.Purge(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("tombstones are not purged yet; it is tried again tomorrow", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Purge removes the nodes of assets that were deleted longer ago than the policy's tombstones.keep, unless it was done
// today. Their deletions, erasures and trails stay, and their ids are free as before. A node that something in the graph
// still points to stays, too: another program may use an adopted graph.
func (s *Service) Purge(ctx context.Context) error {
	if s.policy.Tombstones.Keep == 0 {
		return nil
	}
	due, err := s.takeTurn(ctx, settingPurge, purgeEvery)
	if err != nil || !due {
		return err
	}
	purged := 0
	for f := (NodeFilter{Statuses: []Status{Deleted}, Limit: purgePage}); ; {
		var nodes []Node
		var old []string
		err := s.graph.View(ctx, func(tx Tx) (err error) {
			if nodes, err = tx.ListNodes(ctx, f); err != nil {
				return err
			}
			old, err = s.purgeable(ctx, tx, nodes)
			return err
		})
		if err != nil {
			return err
		}
		if err := s.purge(ctx, old); err != nil {
			return err
		}
		purged += len(old)
		if len(nodes) < f.Limit {
			break
		}
		f.After = nodes[len(nodes)-1].ID
	}
	if purged > 0 {
		s.log.Info("tombstones purged", "assets", purged, "kept_for", s.policy.Tombstones.Keep)
	}
	return nil
}

// purgeable are those of the nodes whose deletion was completed long enough ago, as a whole.
func (s *Service) purgeable(ctx context.Context, tx Tx, nodes []Node) (old []string, err error) {
	var ids []string
	for _, n := range nodes {
		ids = append(ids, n.Deletion)
	}
	records, err := tx.Deletions(ctx, distinct(ids))
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		d := records[n.Deletion]
		if n.Status == Deleted && len(n.openParts()) == 0 && d.Status == Deleted && !d.CompletedAt.IsZero() && !d.CompletedAt.Add(s.policy.Tombstones.Keep).After(s.now()) {
			old = append(old, n.ID)
		}
	}
	return old, nil
}

// purge looks at the nodes again under their locks, and removes them.
func (s *Service) purge(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return s.graph.Update(ctx, func(tx Tx) error {
		if err := tx.Lock(ctx, Locks{Assets: ids}); err != nil {
			return err
		}
		found, err := tx.Nodes(ctx, ids)
		if err != nil {
			return err
		}
		var nodes []Node
		for _, n := range found {
			nodes = append(nodes, n)
		}
		old, err := s.purgeable(ctx, tx, nodes)
		if err != nil {
			return err
		}
		return tx.RemoveNodes(ctx, old)
	})
}
