package client

import (
	"context"
	"net/http"

	"github.com/go-jose/go-jose/v4"

	"github.com/tombstone-project/tombstone/receipt"
)

// Receipt gives the signed statement of what a deletion erased, a compact JWS; receipt.Verify reads it.
func (c *Client) Receipt(ctx context.Context, deletion string) (string, error) {
	a, err := c.do(ctx, request{method: http.MethodGet, path: deletionPath(deletion, "receipt"), media: receipt.MediaType})
	if err != nil {
		return "", err
	}
	return string(a.Body), nil
}

// ReceiptKeys gives the public keys that receipts verify with.
func (c *Client) ReceiptKeys(ctx context.Context) (jose.JSONWebKeySet, error) {
	return get[jose.JSONWebKeySet](ctx, c, "/.well-known/jwks.json", nil)
}
