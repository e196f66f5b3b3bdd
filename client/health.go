package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/tombstone-project/tombstone/problem"
)

// Readiness tells whether every store of a service answers.
type Readiness struct {
	Ready bool
	// Stores maps each store to "ok", or to what is wrong with it.
	Stores map[string]string
}

// Health tells whether the service lives: nil when it does.
func (c *Client) Health(ctx context.Context) error {
	health, err := get[struct{ Status string }](ctx, c, "/healthz", nil)
	if err == nil && health.Status == "" {
		err = c.strange(errors.New("the answer has no status"))
	}
	return err
}

// Ready asks for the service's stores. A service whose stores do not all answer is no error, but a Readiness that is not
// Ready.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	a, err := c.do(ctx, request{method: http.MethodGet, path: "/readyz"})
	if err != nil && !errors.Is(err, problem.Unavailable) {
		return Readiness{}, err
	}
	var body struct{ Checks map[string]string }
	if err := c.decode(a, &body); err != nil {
		return Readiness{}, err
	}
	return Readiness{Ready: a.Status == http.StatusOK, Stores: body.Checks}, nil
}
