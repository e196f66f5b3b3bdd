package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// planTime is the time beyond the usual that a plan may take: it looks at every object version.
const planTime = 10 * time.Minute

// Plan tells what the deletion of an asset would take, and changes nothing.
func (c *Client) Plan(ctx context.Context, id string, r dependency.PlanRequest) (dependency.Plan, error) {
	var p dependency.Plan
	req, err := request{method: http.MethodPost, path: assetPath(id, "plan"), extra: planTime}.withJSON(r)
	if err != nil {
		return p, err
	}
	a, err := c.do(ctx, req)
	if err != nil {
		return p, err
	}
	if err := c.decode(a, &p); err != nil {
		return p, err
	}
	if len(p.Assets) == 0 {
		return p, c.strange(errors.New("the answer is not a plan"))
	}
	return p, c.sameID(p.Assets[0].ID, id)
}
