package gaterpc

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/rpc"
)

// Client asks the dependency service. It implements asset.Gate.
type Client struct{ rpc rpc.Client }

var _ asset.Gate = (*Client)(nil)

// Dial makes a client on a connection that stays the caller's. It asks nothing yet. timeout bounds each question.
func Dial(nc *nats.Conn, names events.Names, keys events.Keys, timeout time.Duration) *Client {
	return &Client{rpc.Client{Conn: nc, Names: names, Keys: keys, Timeout: timeout, Who: "the dependency service", Store: "graph"}}
}

// Current asks all questions, in as many requests as they need; one that fails fails all.
func (c *Client) Current(ctx context.Context, questions []events.Question) ([]events.Answer, error) {
	encoded, err := rpc.Encode(questions)
	if err != nil {
		return nil, err
	}
	answers := make([]events.Answer, 0, len(questions))
	for len(answers) < len(questions) {
		some, err := c.ask(ctx, rpc.Chunk(encoded[len(answers):], maxQuestions))
		if err != nil {
			return nil, err
		}
		answers = append(answers, some...)
	}
	return answers, nil
}

// ask is one request; it gives answers to the first questions, at least one.
func (c *Client) ask(ctx context.Context, questions []json.RawMessage) ([]events.Answer, error) {
	var reply struct {
		Answers []events.Answer `json:"answers"`
	}
	if err := c.rpc.Call(ctx, service+"."+endpointCurrent, currentRequest{questions}, &reply); err != nil {
		return nil, err
	}
	if len(reply.Answers) == 0 || len(reply.Answers) > len(questions) {
		return nil, fmt.Errorf("ask the gate: %d answers to %d questions", len(reply.Answers), len(questions))
	}
	return reply.Answers, nil
}

// Admit asks for the right to read or write a part.
func (c *Client) Admit(ctx context.Context, admission events.Admission) (events.Admitted, error) {
	var admitted events.Admitted
	err := c.rpc.Call(ctx, service+"."+endpointAdmit, admission, &admitted)
	return admitted, err
}

// Grant asks for the right to one upload.
func (c *Client) Grant(ctx context.Context, r events.GrantRequest) (events.Granted, error) {
	var granted events.Granted
	err := c.rpc.Call(ctx, service+"."+endpointGrant, r, &granted)
	return granted, err
}

// Lease asks for the lease of an asset.
func (c *Client) Lease(ctx context.Context, r events.LeaseRequest) (events.Leased, error) {
	var leased events.Leased
	err := c.rpc.Call(ctx, service+"."+endpointLease, r, &leased)
	return leased, err
}

// Renew asks for a change under a lease.
func (c *Client) Renew(ctx context.Context, r events.RenewRequest) (events.Leased, error) {
	var leased events.Leased
	err := c.rpc.Call(ctx, service+"."+endpointRenew, r, &leased)
	return leased, err
}
