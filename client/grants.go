package client

import (
	"context"
	"net/http"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
)

// objectBody asks for a presigned URL.
type objectBody struct {
	Part  string `json:"part"`
	Name  string `json:"name,omitempty"`
	TTL   string `json:"ttl,omitempty"`
	Bytes *int64 `json:"bytes,omitempty"`
}

func bodyOf(r asset.ObjectRequest) objectBody {
	return objectBody{Part: r.Part, Name: r.Name, TTL: duration(r.TTL)}
}

// duration is a ttl as bodies take it; 0 is left out.
func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Upload gives a presigned URL for writing one object; bytes, when given, is the only length that is taken.
func (c *Client) Upload(ctx context.Context, id string, r asset.ObjectRequest, bytes *int64) (asset.Grant, error) {
	body := bodyOf(r)
	body.Bytes = bytes
	var g asset.Grant
	_, err := c.send(ctx, http.MethodPost, assetPath(id, "uploads"), body, &g)
	return g, err
}

// Download gives a presigned URL for reading one object.
func (c *Client) Download(ctx context.Context, id string, r asset.ObjectRequest) (asset.Grant, error) {
	var g asset.Grant
	_, err := c.send(ctx, http.MethodPost, assetPath(id, "downloads"), bodyOf(r), &g)
	return g, err
}

// leaseBody asks for a lease, or for a change under one.
type leaseBody struct {
	TTL        string         `json:"ttl,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

// Lease takes the lease of an asset; 0 is the policy's default time.
func (c *Client) Lease(ctx context.Context, id string, ttl time.Duration) (asset.Lease, error) {
	var l asset.Lease
	_, err := c.send(ctx, http.MethodPost, assetPath(id, "leases"), leaseBody{TTL: duration(ttl)}, &l)
	return l, err
}

// RenewLease prolongs a lease (0: it ends when it would have), and sets attributes under it: null takes one away, those not
// named stay.
func (c *Client) RenewLease(ctx context.Context, id, token string, ttl time.Duration, attributes map[string]any) (asset.Lease, error) {
	var l asset.Lease
	_, err := c.send(ctx, http.MethodPut, assetPath(id, "leases", token), leaseBody{duration(ttl), attributes}, &l)
	return l, err
}
