package client

import (
	"context"
	"net/http"
)

// Plan is what a deletion would take. Hash goes into DeleteRequest.IfPlan, so that nothing else is deleted than was planned.
type Plan struct {
	Hash     string          `json:"hash"`
	Assets   []PlannedAsset  `json:"assets"`
	Objects  []PlannedObject `json:"objects"`
	Bytes    int64           `json:"bytes"`
	Blockers []Blocker       `json:"blockers"`
}

// PlannedAsset is an asset that would go.
type PlannedAsset struct {
	ID         string `json:"id"`
	Generation string `json:"generation"`
	Why        string `json:"why"`
}

// PlannedObject is an object version that would go.
type PlannedObject struct {
	Bucket  string `json:"bucket"`
	Key     string `json:"key"`
	Version string `json:"version"`
	Bytes   int64  `json:"bytes"`
}

// Blocker is an asset that stands in the way.
type Blocker struct {
	Type  string `json:"type"`
	Asset string `json:"asset"`
}

// Plan tells what the deletion of an asset would take, and changes nothing.
func (c *Client) Plan(ctx context.Context, id string, withDependants bool) (Plan, error) {
	var p Plan
	body := struct {
		WithDependants bool `json:"with_dependants"`
	}{withDependants}
	_, err := c.send(ctx, http.MethodPost, assetPath(id, "plan"), body, &p)
	return p, err
}
