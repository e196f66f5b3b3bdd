package client

import (
	"context"

	"github.com/tombstone-project/tombstone/events"
)

// Stores tells how the stores are that the policy names: problem.Unavailable while no asset service answers. For operators.
func (c *Client) Stores(ctx context.Context) (events.StoresView, error) {
	return get[events.StoresView](ctx, c, "/v1/admin/stores", nil)
}
