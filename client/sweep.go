package client

import (
	"context"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Sweep finds orphans; with apply their deletion begins. It takes as long as the stores are large, so only ctx bounds it. For
// operators.
func (c *Client) Sweep(ctx context.Context, apply bool) (dependency.Findings, error) {
	return search[dependency.Findings](ctx, c, "/v1/admin/sweep", apply)
}
