package client

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// deletionPath is the path of a deletion, or of what is below it.
func deletionPath(id string, below ...string) string {
	return strings.Join(append([]string{"/v1/deletions/" + segment(id)}, below...), "/")
}

// Delete asks for the deletion of one asset.
func (c *Client) Delete(ctx context.Context, id string, r dependency.DeleteRequest) (dependency.Deletion, error) {
	return c.delete(ctx, assetPath(id), r)
}

// DeletePart asks for the deletion of one part of an asset that stays.
func (c *Client) DeletePart(ctx context.Context, id, part string, r dependency.DeleteRequest) (dependency.Deletion, error) {
	return c.delete(ctx, assetPath(id, "parts", part), r)
}

func (c *Client) delete(ctx context.Context, path string, r dependency.DeleteRequest) (dependency.Deletion, error) {
	q := query("reason", r.Reason)
	if r.WithDependants {
		q.Set("with_dependants", "true")
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	extra := r.Wait
	if r.IfPlan != "" {
		extra += planTime
	}
	return c.deletion(ctx, request{method: http.MethodDelete, path: path, header: deleteHeader(r), extra: extra})
}

// deletion makes a call that is answered by a deletion.
func (c *Client) deletion(ctx context.Context, r request) (d dependency.Deletion, err error) {
	a, err := c.do(ctx, r)
	if err != nil {
		return d, err
	}
	if err = c.decode(a, &d); err == nil && d.ID == "" {
		err = c.strange(errors.New("the answer is not a deletion"))
	}
	return d, err
}

func deleteHeader(r dependency.DeleteRequest) http.Header {
	h := http.Header{}
	for name, value := range map[string]string{"If-Plan": r.IfPlan, "Idempotency-Key": r.IdempotencyKey, "Traceparent": r.TraceParent} {
		if value != "" {
			h.Set(name, value)
		}
	}
	if r.IfMatch != "" {
		h.Set("If-Match", `"`+r.IfMatch+`"`)
	}
	if r.Wait > 0 {
		// Whole seconds, and at least one.
		h.Set("Prefer", "wait="+strconv.FormatInt(int64((r.Wait+time.Second-1)/time.Second), 10))
	}
	return h
}

// Deletion reads a deletion; cursor continues its steps.
func (c *Client) Deletion(ctx context.Context, deletion, cursor string) (dependency.Deletion, error) {
	return get[dependency.Deletion](ctx, c, deletionPath(deletion), query("cursor", cursor))
}

// Deletions lists deletions, newest first.
func (c *Client) Deletions(ctx context.Context, q dependency.DeletionQuery) (dependency.Page[dependency.Deletion], error) {
	stalled, blocked := "", ""
	if q.Stalled != nil {
		stalled = strconv.FormatBool(*q.Stalled)
	}
	if q.Blocked {
		blocked = "true"
	}
	return list[dependency.Deletion](ctx, c, "/v1/deletions",
		query("status", string(q.Status), "stalled", stalled, "blocked", blocked, "owner", q.Owner, "batch", q.Batch, "cursor", q.Cursor, "limit", limit(q.Limit)))
}

// Overview counts deletions by status.
func (c *Client) Overview(ctx context.Context) (dependency.Overview, error) {
	return get[dependency.Overview](ctx, c, "/v1/overview", nil)
}

// Pending lists command flags that are not sent yet. For operators.
func (c *Client) Pending(ctx context.Context, cursor string) (dependency.Page[dependency.PendingFlag], error) {
	return list[dependency.PendingFlag](ctx, c, "/v1/admin/pending", query("cursor", cursor))
}

// Replay publishes pending flags now. For operators.
func (c *Client) Replay(ctx context.Context, d dependency.Drive) (dependency.Driven, error) {
	return c.drive(ctx, "/v1/admin/pending/replay", d)
}

// drive asks for deletions to be driven on.
func (c *Client) drive(ctx context.Context, path string, d dependency.Drive) (dependency.Driven, error) {
	body := struct {
		dependency.Drive
		OlderThan string `json:"older_than,omitempty"`
	}{Drive: d}
	if d.OlderThan > 0 {
		body.OlderThan = d.OlderThan.String()
	}
	var driven dependency.Driven
	_, err := c.send(ctx, http.MethodPost, path, body, &driven)
	return driven, err
}
