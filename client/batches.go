package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// batchResult is a dependency.SetResult on the wire.
type batchResult struct {
	ID       string               `json:"id"`
	Deletion *dependency.Deletion `json:"deletion"`
	Error    json.RawMessage      `json:"error"`
}

// results reads results, each with either a deletion or a refusal.
func (c *Client) results(list []batchResult, withDeletions bool) ([]dependency.SetResult, error) {
	out := make([]dependency.SetResult, len(list))
	for i, r := range list {
		out[i] = dependency.SetResult{ID: r.ID, Deletion: r.Deletion}
		if len(r.Error) > 0 {
			out[i].Refusal = readProblem(problemMedia, r.Error)
		}
		if (out[i].Deletion == nil) == (out[i].Refusal == nil) || out[i].Deletion != nil && !withDeletions {
			return nil, c.strange(errors.New("a result has neither a deletion nor a refusal"))
		}
	}
	return out, nil
}

// DeleteSet asks for the deletion of up to 1,000 assets together.
func (c *Client) DeleteSet(ctx context.Context, r dependency.SetRequest) (dependency.SetAnswer, error) {
	body := struct {
		IDs            []string `json:"ids"`
		Reason         string   `json:"reason"`
		WithDependants bool     `json:"with_dependants,omitempty"`
	}{r.IDs, r.Reason, r.WithDependants}
	var answer struct {
		Batch   string        `json:"batch"`
		Results []batchResult `json:"results"`
	}
	if err := c.postDeletions(ctx, body, r.TraceParent, &answer); err != nil {
		return dependency.SetAnswer{}, err
	}
	results, err := c.results(answer.Results, true)
	if err == nil && (answer.Batch == "" || len(results) != len(r.IDs)) {
		err = c.strange(errors.New("there is not one result for each id"))
	}
	return dependency.SetAnswer{Batch: answer.Batch, Results: results}, err
}

// DeleteOwner asks for the deletion of all that an owner has.
func (c *Client) DeleteOwner(ctx context.Context, r dependency.OwnerRequest) (string, error) {
	body := struct {
		Owner  string `json:"owner"`
		Reason string `json:"reason"`
	}{r.Owner, r.Reason}
	var answer struct {
		Batch string `json:"batch"`
	}
	err := c.postDeletions(ctx, body, r.TraceParent, &answer)
	if err == nil && answer.Batch == "" {
		err = c.strange(errors.New("the answer names no batch"))
	}
	return answer.Batch, err
}

func (c *Client) postDeletions(ctx context.Context, body any, traceParent string, into any) error {
	r, err := request{method: http.MethodPost, path: "/v1/deletions"}.withJSON(body)
	if err != nil {
		return err
	}
	if traceParent != "" {
		r.header.Set("Traceparent", traceParent)
	}
	a, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	return c.decode(a, into)
}

// Batch reads how far a batch is; cursor continues its refusals.
func (c *Client) Batch(ctx context.Context, batch, cursor string) (dependency.Batch, error) {
	type view struct {
		Batch      string            `json:"batch"`
		Status     dependency.Status `json:"status"`
		Accepted   int               `json:"accepted"`
		Deleted    int               `json:"deleted"`
		Cancelled  int               `json:"cancelled"`
		Refused    []batchResult     `json:"refused"`
		Total      int               `json:"refused_total"`
		NextCursor string            `json:"next_cursor"`
	}
	v, err := get[view](ctx, c, "/v1/batches/"+segment(batch), query("cursor", cursor))
	if err != nil {
		return dependency.Batch{}, err
	}
	refused, err := c.results(v.Refused, false)
	return dependency.Batch{ID: v.Batch, Status: v.Status, Accepted: v.Accepted, Deleted: v.Deleted, Cancelled: v.Cancelled, Refused: refused,
		RefusedTotal: v.Total, NextCursor: v.NextCursor}, err
}
