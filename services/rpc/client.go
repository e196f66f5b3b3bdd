package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// Client asks one service. It is safe for concurrent use.
type Client struct {
	Conn  *nats.Conn // stays the caller's
	Names events.Names
	Keys  events.Keys // sign the questions, and verify the answers
	// Timeout bounds each request.
	Timeout time.Duration
	// Who is asked, for people ("the dependency service"), and which store the refusal names when nobody answers.
	Who, Store string
}

// Call sends a request to an endpoint and reads its answer into reply. A refusal arrives as a refusal; no answer, for
// whatever reason but the end of ctx, is problem.Unavailable.
func (c *Client) Call(ctx context.Context, endpoint string, request, reply any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	q := newQuestion(c.Keys, c.Names.RPC(endpoint), data)
	m, err := c.Conn.RequestMsgWithContext(limited, q.msg)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %w", c.unavailable(), err)
	case !q.answeredBy(c.Keys, m):
		return fmt.Errorf("%w: ask %s: %w", c.unavailable(), endpoint, errForeignAnswer)
	}
	if err := refused(endpoint, m); err != nil {
		return err
	}
	if err := json.Unmarshal(m.Data, reply); err != nil {
		return fmt.Errorf("ask %s: read answer: %w", endpoint, err)
	}
	return nil
}

func (c *Client) unavailable() *problem.Problem {
	return problem.New(problem.Unavailable, "%s does not answer; try again", c.Who).With("store", c.Store)
}

// Encode makes items of a list ready to be cut into requests by Chunk.
func Encode[T any](items []T) ([]json.RawMessage, error) {
	encoded := make([]json.RawMessage, len(items))
	for i, item := range items {
		data, err := json.Marshal(item)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		encoded[i] = data
	}
	return encoded, nil
}

// Chunk is the first items, as many as one message may hold and at most max, at least one.
func Chunk(items []json.RawMessage, max int) []json.RawMessage {
	size := 0
	for i, item := range items {
		if size += len(item) + 1; i > 0 && (size > MaxBytes || i == max) {
			return items[:i]
		}
	}
	return items
}
