package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Verify holds the running system to its guarantees. It takes as long as there is much to look at, so only ctx bounds it. For
// operators.
func (c *Client) Verify(ctx context.Context, r dependency.VerifyRequest) (dependency.Verification, error) {
	var v dependency.Verification
	req, err := request{method: http.MethodPost, path: "/v1/admin/verify", extra: -1}.withJSON(r)
	if err != nil {
		return v, err
	}
	a, err := c.do(ctx, req)
	if err == nil {
		err = c.decode(a, &v)
	}
	if err == nil && v.Violations == nil {
		err = c.strange(errors.New("the answer is not one of verify"))
	}
	return v, err
}
