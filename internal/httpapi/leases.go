package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/asset"
)

// leaseBody says for how long.
type leaseBody struct {
	TTL ttl `json:"ttl,omitempty" doc:"How long the lease lasts, a Go duration: at most the policy's grants.max_ttl." example:"5m"`
}

// renewBody says what changes under a lease.
type renewBody struct {
	TTL        ttl            `json:"ttl,omitempty" doc:"How long it lasts from now; absent: it ends when it would have." example:"5m"`
	Attributes map[string]any `json:"attributes,omitempty" doc:"Attributes to set; null takes one away, those not named stay."`
}

type leaseIn struct {
	ID   assetID `path:"id"`
	Body leaseBody
}

type renewIn struct {
	ID    assetID `path:"id"`
	Token string  `path:"token"`
	Body  renewBody
}

type leaseOut struct {
	Body asset.Lease
}

// leaseRoutes are the leases of workers.
func (s *server) leaseRoutes() {
	tags := []string{"leases"}
	route(s, huma.Operation{
		OperationID: "take-lease", Method: http.MethodPost, Path: "/v1/assets/{id}/leases", Tags: tags, Summary: "Take the lease of an asset",
		Description: "A worker's right to write documents (header Lease-Token) and to change attributes. One lease at a time: 409 leased. A deletion revokes it.",
		Errors:      []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusServiceUnavailable}, DefaultStatus: http.StatusCreated,
	}, func(ctx context.Context, in *leaseIn) (*leaseOut, error) {
		l, err := s.cfg.Asset.Lease(ctx, string(in.ID), in.Body.TTL.given())
		return &leaseOut{Body: l}, err
	})
	route(s, huma.Operation{
		OperationID: "renew-lease", Method: http.MethodPut, Path: "/v1/assets/{id}/leases/{token}", Tags: tags, Summary: "Prolong a lease, change attributes under it",
		Description: "409 lease-lost once it has run out, was taken over, or was revoked by a deletion, and for a token that never was one; then nothing changes.",
		Errors:      []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *renewIn) (*leaseOut, error) {
		l, err := s.cfg.Asset.RenewLease(ctx, string(in.ID), in.Token, in.Body.TTL.given(), in.Body.Attributes)
		return &leaseOut{Body: l}, err
	})
}
