package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// problemPrefix begins the type of every problem document of ours.
const problemPrefix = "/problems/"

// problemMedia is the media type of refusals.
const problemMedia = "application/problem+json"

// readProblem turns a problem document of ours back into the refusal that it was made of; nil for anything else.
func readProblem(media string, text []byte) *problem.Problem {
	var common struct {
		Type, Detail, Field string
	}
	members := map[string]any{}
	err := errors.Join(json.Unmarshal(text, &common), json.Unmarshal(text, &members))
	_, name, ours := strings.Cut(common.Type, problemPrefix)
	if !isMedia(media, problemMedia) || err != nil || !ours || name == "" {
		return nil
	}
	p := &problem.Problem{Name: problem.Name(name), Detail: common.Detail, Field: common.Field}
	for _, member := range []string{"type", "title", "status", "detail", "field", "instance"} {
		delete(members, member)
	}
	if len(members) > 0 {
		p.Members = members
	}
	return p
}

// isMedia tells whether a Content-Type is this media type.
func isMedia(header, media string) bool {
	got, _, err := mime.ParseMediaType(header)
	return err == nil && got == media
}

// get makes a call without a body and decodes its answer.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	var v T
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	a, err := c.do(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return v, err
	}
	return v, c.decode(a, &v)
}

// list is get for a page of a list.
func list[T any](ctx context.Context, c *Client, path string, query url.Values) (dependency.Page[T], error) {
	page, err := get[dependency.Page[T]](ctx, c, path, query)
	if err == nil && page.Items == nil {
		err = c.strange(errors.New("the answer is not a list"))
	}
	return page, err
}

// done makes a call that is answered by 204.
func (c *Client) done(ctx context.Context, r request) error {
	a, err := c.do(ctx, r)
	if err == nil && a.Status != http.StatusNoContent {
		err = c.strange(fmt.Errorf("status %d instead of 204", a.Status))
	}
	return err
}

// withJSON gives the request a JSON body.
func (r request) withJSON(body any) (request, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return r, err
	}
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set("Content-Type", "application/json")
	r.body = bytes.NewReader(text)
	return r, nil
}

// send makes a call with a JSON body and decodes its answer.
func (c *Client) send(ctx context.Context, method, path string, body, into any) (*Answer, error) {
	r, err := request{method: method, path: path}.withJSON(body)
	if err != nil {
		return nil, err
	}
	a, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	return a, c.decode(a, into)
}

// decode reads the JSON of an answer.
func (c *Client) decode(a *Answer, into any) error {
	if len(a.Body) == 0 {
		return c.strange(errors.New("the answer is empty"))
	}
	if err := json.Unmarshal(a.Body, into); err != nil {
		return c.strange(err)
	}
	return nil
}

// segment makes an id one segment of a path. Dots are escaped where the segment would be a relative step, and + where a
// server might take it for a space.
func segment(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return strings.ReplaceAll(url.PathEscape(id), "+", "%2B")
}

// query makes query parameters of names and values in turn, without those that are empty.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}
