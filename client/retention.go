package client

import (
	"context"
	"net/http"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Retention finds what has expired; with apply it begins to go. It takes as long as the graph is large, so only ctx bounds it.
// For operators.
func (c *Client) Retention(ctx context.Context, apply bool) (dependency.Expired, error) {
	return search[dependency.Expired](ctx, c, "/v1/admin/retention", apply)
}

// search makes a call that looks through everything.
func search[T any](ctx context.Context, c *Client, path string, apply bool) (found T, err error) {
	r, err := request{method: http.MethodPost, path: path, extra: -1}.withJSON(map[string]bool{"apply": apply})
	if err != nil {
		return found, err
	}
	answer, err := c.do(ctx, r)
	if err != nil {
		return found, err
	}
	return found, c.decode(answer, &found)
}
