package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// linkItem makes or removes one link.
type linkItem struct {
	by   Caller
	link Link
	on   bool
}

// Link makes a link; one that is there already is a success. Both ends are locked, in id order, so that no deletion of
// the target can slip between the look and the write (G4).
func (s *Service) Link(ctx context.Context, id, linkType, to string) error {
	return s.doLink(ctx, linkItem{link: Link{From: id, Type: linkType, To: to}, on: true})
}

// Unlink removes a link and never deletes anything; a link that is not there is a success.
func (s *Service) Unlink(ctx context.Context, id, linkType, to string) error {
	return s.doLink(ctx, linkItem{link: Link{From: id, Type: linkType, To: to}})
}

func (s *Service) doLink(ctx context.Context, it linkItem) error {
	by, err := caller(ctx)
	if err != nil {
		return err
	}
	it.by = by
	if err := policy.ValidateID(it.link.From); err != nil {
		return at(err, "id")
	}
	if err := s.checkLink(it.link.From, LinkTo{it.link.Type, it.link.To}); err != nil {
		return err
	}
	refusal, err := s.linkings.Do(ctx, it)
	if err != nil {
		return err
	}
	return refusal
}

// link is one transaction of links made and removed.
func (s *Service) link(ctx context.Context, items []linkItem) ([]error, error) {
	var results []error
	err := s.graph.Update(ctx, func(tx Tx) error {
		results = make([]error, len(items))
		w := newWorld(tx, s.now())
		var ends []string
		for _, it := range items {
			ends = append(ends, it.link.From, it.link.To)
		}
		if err := w.load(ctx, Locks{Assets: distinct(ends)}); err != nil {
			return err
		}
		if err := w.readErasing(ctx, w.ownersOf()); err != nil {
			return err
		}
		last := map[Link]bool{} // of several items for one link the last one counts
		for i, it := range items {
			if results[i] = w.mayLink(it); results[i] == nil {
				last[it.link] = it.on
			}
		}
		w.setLinks(last)
		return w.flush(ctx)
	})
	return results, err
}

// mayLink checks one item against the locked nodes.
func (w *world) mayLink(it linkItem) error {
	from, ok := w.nodes[it.link.From]
	if !ok || !it.by.sees(from.Owner) {
		return assetNotFound(it.link.From)
	}
	if err := w.closed(from.Owner); err != nil {
		return err
	}
	if from.Status != Live {
		return problem.New(problem.DeletionInProgress, "asset %q is %s by deletion %s; its links do not change any more", from.ID, from.Status, from.Deletion)
	}
	if it.on {
		return w.linkable(it.by, it.link.To)
	}
	if to, ok := w.nodes[it.link.To]; !ok || !it.by.sees(to.Owner) {
		return linkTargetNotFound(it.link.To)
	}
	return nil
}
