package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// Current answers the asset service's questions before it deletes: is this part of this generation still to be erased
// for this deletion? It is the fence against every late, repeated or forged command.
func (s *Service) Current(ctx context.Context, questions []events.Question) ([]events.Answer, error) {
	var assets []string
	var keys []ErasureKey
	for _, q := range questions {
		assets = append(assets, q.Asset)
		keys = append(keys, ErasureKey{q.Deletion, q.Asset})
	}
	answers := make([]events.Answer, len(questions))
	err := s.graph.View(ctx, func(tx Tx) error {
		nodes, err := tx.Nodes(ctx, distinct(assets))
		if err != nil {
			return err
		}
		erasures, err := tx.Erasures(ctx, keys)
		if err != nil {
			return err
		}
		deletions, err := tx.Deletions(ctx, deletionIDs(keys))
		if err != nil {
			return err
		}
		_, stop, err := paused(ctx, tx)
		if err != nil {
			return err
		}
		holders, err := s.holders(ctx, tx, questions, nodes)
		for i, q := range questions {
			e, ok := erasures[keys[i]]
			if q.Recheck > 0 {
				answers[i] = s.stillDeleted(q, nodes[q.Asset], e, ok, holders)
			} else {
				answers[i] = answer(q, nodes[q.Asset], deletions[q.Deletion], e, ok)
			}
			if stop && answers[i].Erase {
				answers[i].Erase, answers[i].Paused, answers[i].Why = false, true, "physical deletion is paused"
			}
		}
		return err
	})
	return answers, err
}

func deletionIDs(keys []ErasureKey) (ids []string) {
	for _, k := range keys {
		ids = append(ids, k.Deletion)
	}
	return distinct(ids)
}

// answer is yes only when the graph says so in every respect.
func answer(q events.Question, n Node, d DeletionRecord, e Erasure, known bool) events.Answer {
	no := func(why string) events.Answer { return events.Answer{Why: why} }
	switch {
	case n.ID == "":
		return no("the graph has no such asset")
	case n.Generation != q.Generation || known && e.Generation != q.Generation:
		return no("the asset is in another generation")
	case !known || !concerns(n, d, e):
		return no("the asset is not being deleted by this deletion")
	case d.Status != Deleting || e.Done:
		return no("the asset is " + string(n.Status) + " and its deletion " + string(d.Status))
	}
	if len(q.Parts) == 0 && len(e.Parts) > 0 {
		return no("the parts of the asset are in generations of their own, which the command does not name")
	}
	for part, generation := range q.Parts {
		if !wanted(e, part, generation) {
			return no("part " + part + " is not to be erased in this generation")
		}
	}
	return events.Answer{Erase: true, Attributes: n.Attributes, Owner: e.Owner, Kind: e.Kind}
}

func wanted(e Erasure, part, generation string) bool {
	for _, s := range e.Steps {
		if s.Part == part {
			return s.Generation == generation && s.Forced == ""
		}
	}
	return false
}

// Admit checks a caller's right to read or write one part now. What it says of a part is read in the graph, never in a
// cache: the doors close in the moment in which T1 commits. A write makes a part that was deleted present again.
func (s *Service) Admit(ctx context.Context, a events.Admission) (events.Admitted, error) {
	var n Node
	var erasing map[string]string
	err := s.graph.View(ctx, func(tx Tx) error {
		nodes, err := tx.Nodes(ctx, []string{a.Asset})
		n = nodes[a.Asset]
		if err == nil && a.Write {
			erasing, err = tx.ErasingOwners(ctx, distinct([]string{n.Owner}))
		}
		return err
	})
	if err != nil {
		return events.Admitted{}, err
	}
	admitted, closed, err := s.admit(a, n)
	switch {
	case err != nil:
		return events.Admitted{}, err
	case erasing[n.Owner] != "":
		return events.Admitted{}, ownerErasing(n.Owner, erasing[n.Owner])
	case closed == "":
		return admitted, nil
	case !a.Write:
		return events.Admitted{}, partGone(n, a.Part)
	}
	return s.reopen(ctx, a)
}

// admit decides by the node. closed is the deletion that has closed the part alone; empty when it is open.
func (s *Service) admit(a events.Admission, n Node) (admitted events.Admitted, closed string, err error) {
	by := Caller{Owner: a.Owner, Operator: a.Operator}
	if n.ID == "" || !by.sees(n.Owner) {
		return admitted, "", assetNotFound(a.Asset)
	}
	if n.Status != Live {
		return admitted, "", gone(n)
	}
	if _, ok := s.policy.Kind(n.Kind); !ok {
		return admitted, "", problem.New(problem.UnknownPart, "the policy has no kind %q any more", n.Kind)
	}
	if !s.hasPart(n, a.Part) {
		return admitted, "", unknownPart(n.Kind, a.Part)
	}
	if a.LeaseToken != "" && !n.leasedTo(a.LeaseToken, s.now()) {
		return admitted, "", leaseLost(n.ID)
	}
	p := partState(n, a.Part)
	admitted = events.Admitted{Owner: n.Owner, Kind: n.Kind, Generation: p.Generation, Attributes: n.Attributes}
	if a.LeaseToken != "" {
		admitted.LeaseLeft = n.Lease.Until.Sub(s.now())
	}
	return admitted, p.Deletion, nil
}

func gone(n Node) error {
	return problem.New(problem.Gone, "asset %q is %s by deletion %s", n.ID, n.Status, n.Deletion).With("deletion", n.Deletion)
}
