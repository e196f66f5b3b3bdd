// Package storesrpc carries the dependency service's port Stores over NATS (package rpc): the asset service serves it, and
// the dependency service dials it.
package storesrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/rpc"
)

// The service and its endpoints.
const (
	service        = "stores"
	endpointLook   = "look"
	endpointSurvey = "survey"
	endpointPlant  = "plant"
	endpointView   = "view"
)

// viewTime bounds a look at all stores: one that does not answer is told as such before whoever asked gives up.
const viewTime = 5 * time.Second

// maxTargets bounds one request.
const maxTargets = 500

// lookRequest asks about many targets at once.
type lookRequest struct {
	Targets []json.RawMessage `json:"targets"` // events.Target
}

// lookReply has the sights of the first targets, at least one.
type lookReply struct {
	Sights []json.RawMessage `json:"sights"` // events.Sight
}

// plantRequest names the canary whose content is to be written.
type plantRequest struct {
	Asset string `json:"asset"`
}

// Answers is what the asset service answers with.
type Answers struct {
	Stores dependency.Stores
	Plant  func(ctx context.Context, asset string) error
	View   func(ctx context.Context) (events.StoresView, error)
}

// Serve answers questions about the namespace of names, sharing the work with every other process that does. stop takes no more,
// waits until those in hand are answered, and must be called once.
func Serve(nc *nats.Conn, names events.Names, keys events.Keys, a Answers, logger *slog.Logger) (stop func() error, err error) {
	look := func(ctx context.Context, request []byte) (any, error) {
		var asked struct {
			Targets []events.Target `json:"targets"`
		}
		if err := json.Unmarshal(request, &asked); err != nil {
			return nil, problem.New(problem.InvalidRequest, "not a list of targets: %v", err)
		}
		sights, err := a.Stores.Look(ctx, asked.Targets)
		if err != nil {
			return nil, err
		}
		fitting, err := rpc.Fitting(sights)
		return lookReply{fitting}, err
	}
	view := func(ctx context.Context, _ []byte) (any, error) {
		limited, cancel := context.WithTimeout(ctx, viewTime)
		defer cancel()
		return a.View(limited)
	}
	return rpc.Serve(nc, names, rpc.Service{Name: service, Description: "Tells the dependency service what lies in the stores.",
		Endpoints: map[string]rpc.Handler{endpointLook: look, endpointSurvey: survey(a.Stores), endpointPlant: planting(a.Plant), endpointView: view}, Keys: keys, Log: logger})
}

func survey(stores dependency.Stores) rpc.Handler {
	return func(ctx context.Context, request []byte) (any, error) {
		var shelf events.Shelf
		if err := json.Unmarshal(request, &shelf); err != nil {
			return nil, problem.New(problem.InvalidRequest, "not a shelf: %v", err)
		}
		return stores.Survey(ctx, shelf)
	}
}

func planting(plant func(ctx context.Context, asset string) error) rpc.Handler {
	return func(ctx context.Context, request []byte) (any, error) {
		var asked plantRequest
		if err := json.Unmarshal(request, &asked); err != nil {
			return nil, problem.New(problem.InvalidRequest, "not an asset: %v", err)
		}
		return struct{}{}, plant(ctx, asked.Asset)
	}
}

// Client asks the asset service. It implements dependency.Stores.
type Client struct{ rpc rpc.Client }

var _ dependency.Stores = (*Client)(nil)

// Dial makes a client on a connection that stays the caller's. It asks nothing yet. timeout bounds each question.
func Dial(nc *nats.Conn, names events.Names, keys events.Keys, timeout time.Duration) *Client {
	return &Client{rpc.Client{Conn: nc, Names: names, Keys: keys, Timeout: timeout, Who: "the asset service", Store: "asset service"}}
}

// Look asks about the first targets, as many as one request may hold.
func (c *Client) Look(ctx context.Context, targets []events.Target) ([]events.Sight, error) {
	encoded, err := rpc.Encode(targets)
	if err != nil || len(encoded) == 0 {
		return nil, err
	}
	asked := rpc.Chunk(encoded, maxTargets)
	var reply struct {
		Sights []events.Sight `json:"sights"`
	}
	if err := c.rpc.Call(ctx, service+"."+endpointLook, lookRequest{asked}, &reply); err != nil {
		return nil, err
	}
	if len(reply.Sights) == 0 || len(reply.Sights) > len(asked) {
		return nil, fmt.Errorf("look into the stores: %d sights of %d targets", len(reply.Sights), len(asked))
	}
	return reply.Sights, nil
}

// Survey asks for one page.
func (c *Client) Survey(ctx context.Context, shelf events.Shelf) (out events.Survey, err error) {
	err = c.rpc.Call(ctx, service+"."+endpointSurvey, shelf, &out)
	return out, err
}

// Plant has the content of a canary written.
func (c *Client) Plant(ctx context.Context, asset string) error {
	return c.rpc.Call(ctx, service+"."+endpointPlant, plantRequest{asset}, &struct{}{})
}

// Stores asks how the stores are that the policy names. Where nobody takes the question, and somebody takes an older one, the
// refusal says with dependency.MemberTooOld that an asset service is up, of a version that does not know it yet.
func (c *Client) Stores(ctx context.Context) (out events.StoresView, err error) {
	err = c.rpc.Call(ctx, service+"."+endpointView, struct{}{}, &out)
	if errors.Is(err, nats.ErrNoResponders) && c.answersOld(ctx) {
		err = problem.New(problem.Unavailable, "the asset service is older than this one, and cannot tell of its stores").
			With("store", c.rpc.Store).With(dependency.MemberTooOld, true)
	}
	return out, err
}

// answersOld tells whether an asset service takes the question that every version knows, about nothing.
func (c *Client) answersOld(ctx context.Context) bool {
	err := c.rpc.Call(ctx, service+"."+endpointLook, lookRequest{Targets: []json.RawMessage{}}, &struct{}{})
	return ctx.Err() == nil && !errors.Is(err, problem.Unavailable)
}
