package asset

import (
	"context"
	"fmt"
	"slices"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// A recheck is the command of an erasure that was done, sent once more: something may have landed since. It goes the way of
// every erasure, with more care, for nothing keeps others from the places any more: the graph names the parts at whose
// places there can be nothing else, and where the generation is not in the place, only what cannot have been put in the
// place of something else meanwhile is taken.

// planRecheck works out the places of the parts that the graph still knows to be the old asset's alone. What cannot be worked
// out is left: the policy has changed since, which it may once nothing of a kind is left.
func (r *erasure) planRecheck(ctx context.Context) (wanted bool, err error) {
	answer, err := r.question(ctx, r.command.Parts)
	if err != nil || !answer.Erase {
		return false, err
	}
	kind, ok := r.policy.Kind(r.command.Kind)
	if !ok {
		return true, nil
	}
	subject := policy.Subject{ID: r.command.Asset, Owner: r.command.Owner, Kind: r.command.Kind, Attributes: answer.Attributes}
	for _, p := range kind.Parts {
		if subject.Generation, ok = r.generationOf(p.Name); !ok || !slices.Contains(answer.Only, p.Name) {
			continue
		}
		located, err := newPart(p, subject)
		if err != nil {
			r.log.WarnContext(ctx, "part is not looked at again", "deletion", r.command.Deletion, "asset", r.command.Asset, "part", p.Name, "error", err)
			continue
		}
		located.recheck = true
		for i := range located.documents {
			located.documents[i].Exact = true
		}
		r.parts = append(r.parts, located)
	}
	return true, nil
}

// keepOnly lets go of active parts that the graph does not name any more: somebody else may be there now.
func (r *erasure) keepOnly(names []string) {
	r.parts = slices.DeleteFunc(r.parts, func(p *part) bool { return p.active() && !slices.Contains(names, p.name) })
}

// exchangeable tells whether a version may be another object by the time it is deleted: without an id of its own it is
// whatever has the key then.
func exchangeable(v Version) bool { return !v.Upload && (v.ID == "" || v.ID == "null") }

// recall ends a part at which nothing is. What an interrupted look had found and removed is in the ledger, which holds nothing
// of the usual look, that finds nothing. In a bucket that is gone there is nothing either.
func (r *erasure) recall(ctx context.Context, p *part) {
	if b := AsBlocked(p.err); b != nil && b.Reason == ReasonBucketMissing {
		p.err = nil
	}
	if p.err != nil || !p.seen.empty() {
		return
	}
	counted, err := r.stores.totals(ctx, r.ledgerKey(p))
	switch {
	case err != nil:
		p.err = fmt.Errorf("read the ledger: %w", err)
	case counted.Documents+counted.Objects == 0:
		p.evidence = &events.PartEvidence{Part: p.name, Generation: p.generation, Attempts: r.attempt, SeenAbsentAt: p.lookedAt}
	default:
		p.counted = counted
		r.finish(ctx, p)
	}
}
