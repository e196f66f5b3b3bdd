package client

import (
	"context"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Stores tells how the stores are that the policy names: problem.NotFound where the asset service is not served. For
// operators.
func (c *Client) Stores(ctx context.Context) (asset.StoresView, error) {
	return get[asset.StoresView](ctx, c, "/v1/admin/stores", nil)
}
