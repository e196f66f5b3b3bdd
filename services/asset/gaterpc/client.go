package gaterpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Client asks the dependency service. It implements asset.Gate.
type Client struct {
	nc      *nats.Conn
	names   events.Names
	timeout time.Duration
}

var _ asset.Gate = (*Client)(nil)

// Dial makes a client on a connection that stays the caller's. It asks nothing yet. timeout bounds each question.
func Dial(nc *nats.Conn, names events.Names, timeout time.Duration) *Client {
	return &Client{nc: nc, names: names, timeout: timeout}
}

// Current asks all questions, in as many requests as they need; one that fails fails all.
func (c *Client) Current(ctx context.Context, questions []events.Question) ([]events.Answer, error) {
	encoded := make([]json.RawMessage, len(questions))
	for i, q := range questions {
		data, err := json.Marshal(q)
		if err != nil {
			return nil, fmt.Errorf("encode question: %w", err)
		}
		encoded[i] = data
	}
	answers := make([]events.Answer, 0, len(questions))
	for len(answers) < len(questions) {
		some, err := c.ask(ctx, chunk(encoded[len(answers):]))
		if err != nil {
			return nil, err
		}
		answers = append(answers, some...)
	}
	return answers, nil
}

// chunk is the first questions, as many as one request may hold, at least one.
func chunk(questions []json.RawMessage) []json.RawMessage {
	size := 0
	for i, q := range questions {
		if size += len(q) + 1; i > 0 && (size > maxBytes || i == maxQuestions) {
			return questions[:i]
		}
	}
	return questions
}

// ask is one request; it gives answers to the first questions, at least one.
func (c *Client) ask(ctx context.Context, questions []json.RawMessage) ([]events.Answer, error) {
	var reply struct {
		Answers []events.Answer `json:"answers"`
	}
	if err := c.call(ctx, endpointCurrent, currentRequest{questions}, &reply); err != nil {
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
	err := c.call(ctx, endpointAdmit, admission, &admitted)
	return admitted, err
}

// call sends a request and reads its answer into reply.
func (c *Client) call(ctx context.Context, endpoint string, request, reply any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	m, err := c.nc.RequestWithContext(limited, c.names.RPC(endpoint), data)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "the dependency service does not answer; try again").With("store", "graph"), err)
	}
	if err := refused(m); err != nil {
		return err
	}
	if err := json.Unmarshal(m.Data, reply); err != nil {
		return fmt.Errorf("ask the gate: read answer: %w", err)
	}
	return nil
}
