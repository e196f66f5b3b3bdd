package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// assetPath is the path of an asset, or of what is below it.
func assetPath(id string, below ...string) string {
	path := "/v1/assets/" + segment(id)
	for _, name := range below {
		path += "/" + segment(name)
	}
	return path
}

// PutAsset creates or changes an asset.
func (c *Client) PutAsset(ctx context.Context, id string, put dependency.Put) (dependency.Asset, dependency.Outcome, error) {
	var asset dependency.Asset
	a, err := c.send(ctx, http.MethodPut, assetPath(id), put, &asset)
	if err != nil {
		return dependency.Asset{}, "", err
	}
	outcome := dependency.Changed
	if a.Status == http.StatusCreated {
		outcome = dependency.Created
	}
	return asset, outcome, c.sameID(asset.ID, id)
}

// ImportAssets streams NDJSON to the service: the body of a PUT with its id, a line for each asset.
func (c *Client) ImportAssets(ctx context.Context, lines io.Reader) (dependency.ImportResult, error) {
	var result dependency.ImportResult
	// Expect: a refusal comes before the stream is sent. The reader is wrapped so that closing it stays the caller's.
	header := http.Header{"Content-Type": {"application/x-ndjson"}, "Expect": {"100-continue"}}
	a, err := c.do(ctx, request{method: http.MethodPost, path: "/v1/assets", header: header, body: io.MultiReader(lines), extra: -1})
	if err != nil {
		return result, err
	}
	return result, c.decode(a, &result)
}

// Asset reads an asset, in every status.
func (c *Client) Asset(ctx context.Context, id string) (dependency.Asset, error) {
	asset, err := get[dependency.Asset](ctx, c, assetPath(id), nil)
	if err != nil {
		return dependency.Asset{}, err
	}
	return asset, c.sameID(asset.ID, id)
}

// sameID refuses an answer that is about something else: it is not from Tombstone.
func (c *Client) sameID(got, want string) error {
	if got != want {
		return c.strange(errors.New("the answer is about another asset"))
	}
	return nil
}

// Assets lists assets.
func (c *Client) Assets(ctx context.Context, q dependency.AssetQuery) (dependency.Page[dependency.Asset], error) {
	return list[dependency.Asset](ctx, c, "/v1/assets",
		query("kind", q.Kind, "status", string(q.Status), "owner", q.Owner, "cursor", q.Cursor, "limit", limit(q.Limit)))
}

// limit is a page size as a parameter; 0 is the service's default.
func limit(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Dependants lists direct dependants.
func (c *Client) Dependants(ctx context.Context, id, cursor string) (dependency.Page[dependency.Dependant], error) {
	return list[dependency.Dependant](ctx, c, assetPath(id, "dependants"), query("cursor", cursor))
}

// Link makes a link.
func (c *Client) Link(ctx context.Context, id, linkType, to string) error {
	return c.done(ctx, request{method: http.MethodPut, path: assetPath(id, "links", linkType, to)})
}

// Unlink removes a link; it never deletes an asset.
func (c *Client) Unlink(ctx context.Context, id, linkType, to string) error {
	return c.done(ctx, request{method: http.MethodDelete, path: assetPath(id, "links", linkType, to)})
}

// PutDocument writes a document part; leaseToken may be empty.
func (c *Client) PutDocument(ctx context.Context, id, part string, body map[string]any, leaseToken string) error {
	r, err := request{method: http.MethodPut, path: assetPath(id, "documents", part)}.withJSON(body)
	if err != nil {
		return err
	}
	if leaseToken != "" {
		r.header.Set("Lease-Token", leaseToken)
	}
	return c.done(ctx, r)
}

// GetDocument reads a document part.
func (c *Client) GetDocument(ctx context.Context, id, part string) (map[string]any, error) {
	return get[map[string]any](ctx, c, assetPath(id, "documents", part), nil)
}
