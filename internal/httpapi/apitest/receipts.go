package apitest

import (
	"context"
	"crypto/ed25519"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/receipt"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// signingKey is always the same, and secret to nobody.
func signingKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
}

// Receipt signs what little is known of a deletion that is deleted.
func (s *Service) Receipt(ctx context.Context, id string) (string, error) {
	c, leave, err := s.enter(ctx, "Receipt")
	if err != nil {
		return "", err
	}
	defer leave()
	d, err := s.findDeletion(c, id)
	if err != nil {
		return "", err
	}
	if d.Status != dependency.Deleted {
		return "", problem.New(problem.NotDeleted, "deletion %s is %s", id, d.Status)
	}
	signer, err := receipt.NewSigner(signingKey())
	if err != nil {
		return "", err
	}
	return signer.Sign(receipt.Receipt{Deletion: d.ID, Root: d.Root, Result: receipt.Verified, Policy: "none", RequestedBy: d.RequestedBy,
		Reason: d.Reason, RequestedAt: d.RequestedAt, DueAt: d.DueAt, CompletedAt: *d.CompletedAt,
		Assets: []receipt.Asset{{ID: d.Root, Parts: []receipt.Part{{Part: "description", Result: receipt.Verified, Documents: 1, AbsentAt: d.CompletedAt}}}}})
}

// ReceiptKeys gives the public half.
func (s *Service) ReceiptKeys(ctx context.Context) (jose.JSONWebKeySet, error) {
	key, err := receipt.PublicKey(signingKey())
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}}, err
}
