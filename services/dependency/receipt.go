package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/receipt"
)

// Receipt gives the signed statement of what a deletion erased, a compact JWS, once it is `deleted`: the same text each
// time, as long as the key stays.
func (s *Service) Receipt(ctx context.Context, id string) (string, error) {
	by, err := caller(ctx)
	if err != nil {
		return "", err
	}
	signer, err := s.receiptKeys.signer(ctx)
	if err != nil {
		return "", err
	}
	var r receipt.Receipt
	err = s.graph.View(ctx, func(tx Tx) error {
		d, err := visibleDeletion(ctx, tx, by, id)
		if err != nil {
			return err
		}
		if d.Status != Deleted {
			return problem.New(problem.NotDeleted, "deletion %s is %s: there is a receipt when it is deleted", d.ID, d.Status).With("status", d.Status)
		}
		erasures, err := allErasures(ctx, tx, id)
		r = receiptOf(d, erasures)
		return err
	})
	if err != nil {
		return "", err
	}
	return signer.Sign(r)
}

// receiptOf says what the records say.
func receiptOf(d DeletionRecord, erasures []Erasure) receipt.Receipt {
	r := receipt.Receipt{Deletion: d.ID, Root: d.Root, Result: receipt.Verified, Policy: d.Policy, RequestedBy: d.RequestedBy, Reason: d.Reason,
		RequestedAt: d.RequestedAt, DueAt: d.DueAt, CompletedAt: d.CompletedAt, Assets: []receipt.Asset{}}
	for _, e := range erasures {
		a := receipt.Asset{ID: e.Asset, Kind: e.Kind, Owner: e.Owner, Generation: e.Generation, Why: e.Why, Parts: []receipt.Part{}}
		for _, step := range e.Steps {
			p := receiptPart(step)
			if p.Result == receipt.Unverified {
				r.Result = receipt.Unverified
			}
			a.Parts = append(a.Parts, p)
		}
		r.Assets = append(r.Assets, a)
	}
	return r
}

func receiptPart(step Step) receipt.Part {
	p := receipt.Part{Part: step.Part, Generation: step.Generation, Result: receipt.Verified, Documents: step.Documents, Objects: step.Objects,
		Bytes: step.Bytes, AbsentAt: step.ErasedAt}
	if step.Forced != "" {
		p.Result, p.AbsentAt, p.GivenUp = receipt.Unverified, nil, step.Forced
	}
	return p
}
