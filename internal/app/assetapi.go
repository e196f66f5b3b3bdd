package app

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// assetAPI turns the caller of a request into the admission that the asset service asks the graph for.
type assetAPI struct{ *asset.Service }

// PutDocument writes a document part.
func (a assetAPI) PutDocument(ctx context.Context, id, part string, body map[string]any, leaseToken string) error {
	return a.Service.PutDocument(ctx, admission(ctx, id, part, leaseToken), body)
}

// GetDocument reads one.
func (a assetAPI) GetDocument(ctx context.Context, id, part string) (map[string]any, error) {
	return a.Service.GetDocument(ctx, admission(ctx, id, part, ""))
}

// Upload gives a URL for writing an object.
func (a assetAPI) Upload(ctx context.Context, id string, r asset.ObjectRequest, bytes *int64) (asset.Grant, error) {
	return a.Service.Upload(ctx, admission(ctx, id, "", ""), r, bytes)
}

// Download gives a URL for reading one.
func (a assetAPI) Download(ctx context.Context, id string, r asset.ObjectRequest) (asset.Grant, error) {
	return a.Service.Download(ctx, admission(ctx, id, "", ""), r)
}

// Lease takes the lease of an asset.
func (a assetAPI) Lease(ctx context.Context, id string, ttl time.Duration) (asset.Lease, error) {
	return a.Service.Lease(ctx, admission(ctx, id, "", ""), ttl)
}

// RenewLease prolongs a lease and changes attributes under it.
func (a assetAPI) RenewLease(ctx context.Context, id, token string, ttl time.Duration, attributes map[string]any) (asset.Lease, error) {
	return a.Service.RenewLease(ctx, admission(ctx, id, "", token), ttl, attributes)
}

func admission(ctx context.Context, id, part, leaseToken string) events.Admission {
	by, _ := dependency.CallerFrom(ctx) // nobody: no owner is theirs, so everything is foreign
	return events.Admission{Asset: id, Part: part, Owner: by.Owner, Operator: by.Operator, LeaseToken: leaseToken}
}
