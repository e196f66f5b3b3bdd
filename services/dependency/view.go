package dependency

import (
	"context"
	"time"
)

// stepsShown is how many steps an answer holds; further ones come by cursor.
const stepsShown = 100

// view is what the API tells of a node.
func (s *Service) view(n Node, links []LinkTo) Asset {
	if links == nil {
		links = []LinkTo{}
	}
	attributes := n.Attributes
	if attributes == nil {
		attributes = map[string]any{}
	}
	return Asset{ID: n.ID, Kind: n.Kind, Owner: n.Owner, Generation: n.Generation, Status: n.Status, Attributes: attributes, Links: links,
		Bytes: n.Bytes, CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt, Hold: n.Hold, Deletion: n.Deletion, Parts: s.partViews(n)}
}

// partViews tells of every part of the kind: what the node knows of its own, and else the asset's generation and status.
func (s *Service) partViews(n Node) map[string]PartView {
	views := map[string]PartView{}
	shared := map[Status]string{Live: PartPresent, Deleting: PartErasing, Deleted: PartErased}[n.Status]
	if kind, ok := s.policy.Kind(n.Kind); ok {
		for _, p := range kind.Parts {
			views[p.Name] = PartView{Status: shared, Generation: n.Generation}
		}
	}
	for name, p := range n.Parts {
		v := PartView{Status: p.Status, Generation: p.Generation, ErasedAt: p.ErasedAt, Reason: p.Reason}
		if n.Status == Deleting && p.Status == PartPresent {
			v.Status = PartErasing
		}
		views[name] = v
	}
	return views
}

// deletionView is what the API tells of a deletion, with the steps of the erasures given.
func (s *Service) deletionView(d DeletionRecord, erasures []Erasure, next string) Deletion {
	v := Deletion{ID: d.ID, Root: d.Root, Parts: d.Parts, Status: d.Status, Stalled: s.stalled(d), Blocked: d.Blocked, RequestedBy: d.RequestedBy, Reason: d.Reason,
		RequestedAt: d.RequestedAt, DueAt: d.DueAt, SentAt: optional(d.SentAt), CompletedAt: optional(d.CompletedAt),
		Assets: AssetCount{Total: d.Total, Deleted: d.Done}, Steps: []AssetStep{}, NextCursor: next}
	for _, e := range erasures {
		for _, step := range e.Steps {
			v.Steps = append(v.Steps, AssetStep{Asset: e.Asset, Step: step})
		}
	}
	return v
}

// stalled is policy stalled_after after due_at without completion.
func (s *Service) stalled(d DeletionRecord) bool {
	return d.Status == Deleting && s.now().After(d.DueAt.Add(s.policy.StalledAfter))
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// readView reads a page of a deletion's steps, after a position; it holds whole assets, so it may end before or a little
// after the 100th step.
func (s *Service) readView(ctx context.Context, tx Tx, d DeletionRecord, after int) (Deletion, error) {
	erasures, err := tx.ListErasures(ctx, d.ID, after, stepsShown)
	if err != nil {
		return Deletion{}, err
	}
	return s.viewPage(d, erasures), nil
}

// viewPage is the view of a deletion with a page of its erasures, of at most stepsShown.
func (s *Service) viewPage(d DeletionRecord, erasures []Erasure) Deletion {
	shown, next := firstSteps(erasures)
	if next == "" && len(erasures) == stepsShown {
		next = encodeCursor("steps", erasures[len(erasures)-1].Position)
	}
	return s.deletionView(d, shown, next)
}

// firstSteps cuts erasures after the 100th step, and gives the cursor of the rest.
func firstSteps(erasures []Erasure) (shown []Erasure, next string) {
	steps := 0
	for i, e := range erasures {
		if steps >= stepsShown {
			return erasures[:i], encodeCursor("steps", erasures[i-1].Position)
		}
		steps += len(e.Steps)
	}
	return erasures, ""
}
