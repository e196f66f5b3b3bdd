package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// defaultTimeout bounds a call, waiting on request and imports apart.
const defaultTimeout = 30 * time.Second

var (
	_ dependency.AssetsAPI     = (*Client)(nil)
	_ dependency.DeletionsAPI  = (*Client)(nil)
	_ dependency.BatchesAPI    = (*Client)(nil)
	_ dependency.OperationsAPI = (*Client)(nil)
	_ dependency.DrivingAPI    = (*Client)(nil)
	_ dependency.FollowingAPI  = (*Client)(nil)
	_ dependency.WatchingAPI   = (*Client)(nil)
	_ dependency.ReversalAPI   = (*Client)(nil)
	_ dependency.OwnersAPI     = (*Client)(nil)
	_ dependency.PlanningAPI   = (*Client)(nil)
	_ dependency.RetentionAPI  = (*Client)(nil)
	_ dependency.SweepAPI      = (*Client)(nil)
	_ dependency.VerifyingAPI  = (*Client)(nil)
	_ dependency.ProofAPI      = (*Client)(nil)
)

// Client speaks to one Tombstone service. It is safe for concurrent use.
type Client struct {
	base     string
	token    string
	http     *http.Client
	timeout  time.Duration
	onAnswer func(Answer)
}

// Answer is one answer as it came.
type Answer struct {
	Status int
	Body   []byte
}

// Option changes how a client works.
type Option func(*Client)

// WithHTTPClient uses another HTTP client, for its transport (certificates, proxies). Redirects are never followed.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) {
		own := *h
		c.http = &own
	}
}

// WithTimeout bounds each call, waiting on request and imports apart. The default is 30 s.
func WithTimeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// OnAnswer hands every answer to f as it came, before it is decoded. f must be safe for concurrent use if the client is
// used so.
func OnAnswer(f func(Answer)) Option { return func(c *Client) { c.onAnswer = f } }

// New makes a client of the service at baseURL (http://HOST:PORT, with the path before /v1 if there is one). token may be
// empty where the service runs without authentication.
func New(baseURL, token string, opts ...Option) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not the address of a service: write http://HOST:PORT or https://HOST", baseURL)
	}
	c := &Client{base: strings.TrimRight(baseURL, "/"), token: token, http: &http.Client{}, timeout: defaultTimeout}
	for _, o := range opts {
		o(c)
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// request is one call before it is sent.
type request struct {
	method string
	path   string // escaped, from the root of the service
	header http.Header
	body   io.Reader
	media  string // of the answer, by default application/json
	// extra time beside the client's timeout; negative: no timeout but the context's.
	extra time.Duration
}

// do sends a request and reads the answer to its end. Answers of 400 and more are errors.
func (c *Client) do(ctx context.Context, r request) (*Answer, error) {
	if r.extra >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout+r.extra)
		defer cancel()
	}
	res, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return c.read(res, cmp.Or(r.media, "application/json"))
}

// open sends a request; the caller reads the answer and closes it.
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, r.body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, c.base, err)
	}
	if r.header != nil {
		req.Header = r.header
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return res, nil
}

// read reads an answer to its end. One that is neither of the media type nor a refusal of ours is not Tombstone's.
func (c *Client) read(res *http.Response, want string) (*Answer, error) {
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, c.unreachable(err)
	}
	a := &Answer{Status: res.StatusCode, Body: text}
	if c.onAnswer != nil {
		c.onAnswer(*a)
	}
	media := res.Header.Get("Content-Type")
	if res.StatusCode >= http.StatusBadRequest {
		if p := readProblem(media, text); p != nil {
			return a, p
		}
	}
	if res.StatusCode >= http.StatusMultipleChoices || (len(text) > 0 && !isMedia(media, want)) {
		return a, c.stranger(res)
	}
	return a, nil
}

// unreachable is the error of a service that did not answer; it names the address, and the cause without the URL.
func (c *Client) unreachable(err error) error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	return fmt.Errorf("no answer from %s: %w", c.base, err)
}

// stranger is the error of an answer that is not Tombstone's.
func (c *Client) stranger(res *http.Response) error {
	return fmt.Errorf("%s answered %s with %q, and not as Tombstone does: check the address", c.base, res.Status, res.Header.Get("Content-Type"))
}

// strange is the error of JSON that is not what the call answers.
func (c *Client) strange(err error) error {
	return fmt.Errorf("%s answered JSON, but not as Tombstone does: check the address: %w", c.base, err)
}
