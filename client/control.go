package client

import (
	"context"
	"net/http"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Explain tells what a deletion waits for, and what may be done about it.
func (c *Client) Explain(ctx context.Context, deletion string) (dependency.Explanation, error) {
	return get[dependency.Explanation](ctx, c, deletionPath(deletion, "explain"), nil)
}

// Stalled lists deletions past their deadline, blocked or failing. For operators.
func (c *Client) Stalled(ctx context.Context, cursor string) (dependency.Page[dependency.Deletion], error) {
	return list[dependency.Deletion](ctx, c, "/v1/admin/stalled", query("cursor", cursor))
}

// Retry drives stalled deletions now. For operators.
func (c *Client) Retry(ctx context.Context, d dependency.Drive) (dependency.Driven, error) {
	return c.drive(ctx, "/v1/admin/stalled/retry", d)
}

// Force gives up a part whose store is gone for good. For operators.
func (c *Client) Force(ctx context.Context, deletion string, f dependency.Force) (dependency.Deletion, error) {
	r, err := request{method: http.MethodPost, path: deletionPath(deletion, "force")}.withJSON(f)
	if err != nil {
		return dependency.Deletion{}, err
	}
	return c.deletion(ctx, r)
}

// Cancel takes a scheduled deletion back.
func (c *Client) Cancel(ctx context.Context, deletion string) (dependency.Deletion, error) {
	return c.deletion(ctx, request{method: http.MethodPost, path: deletionPath(deletion, "cancel")})
}

// Audit lists an asset's trail, oldest first. For operators.
func (c *Client) Audit(ctx context.Context, asset, cursor string) (dependency.Page[dependency.AuditItem], error) {
	return list[dependency.AuditItem](ctx, c, "/v1/admin/audit", query("asset", asset, "cursor", cursor))
}

// AuditAll lists the trails of all assets since a time (zero: from the first on), in order of time. For operators.
func (c *Client) AuditAll(ctx context.Context, since time.Time, cursor string) (dependency.Page[dependency.AuditItem], error) {
	from := ""
	if !since.IsZero() {
		from = since.Format(time.RFC3339Nano)
	}
	return list[dependency.AuditItem](ctx, c, "/v1/admin/audit", query("since", from, "cursor", cursor))
}

// Pause stops physical deletion, over restarts too; reason may be empty. For operators.
func (c *Client) Pause(ctx context.Context, reason string) error {
	return c.because(ctx, request{method: http.MethodPost, path: "/v1/admin/pause"}, reason)
}

// Resume goes on with physical deletion. For operators.
func (c *Client) Resume(ctx context.Context) error {
	return c.done(ctx, request{method: http.MethodPost, path: "/v1/admin/resume"})
}

// Hold puts a live or scheduled asset under legal hold; reason may be empty. For operators.
func (c *Client) Hold(ctx context.Context, id, reason string) error {
	return c.because(ctx, request{method: http.MethodPut, path: assetPath(id, "hold")}, reason)
}

// because makes a call with a reason in its body, where there is one.
func (c *Client) because(ctx context.Context, r request, reason string) error {
	if reason != "" {
		var err error
		if r, err = r.withJSON(map[string]string{"reason": reason}); err != nil {
			return err
		}
	}
	return c.done(ctx, r)
}

// Release ends a legal hold. For operators.
func (c *Client) Release(ctx context.Context, id string) error {
	return c.done(ctx, request{method: http.MethodDelete, path: assetPath(id, "hold")})
}

// Usage tells what an owner uses and may use.
func (c *Client) Usage(ctx context.Context, owner string) (dependency.UsageView, error) {
	return get[dependency.UsageView](ctx, c, "/v1/owners/"+segment(owner)+"/usage", nil)
}
