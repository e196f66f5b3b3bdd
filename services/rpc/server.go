package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

const (
	// inHand bounds the requests that one replica answers at the same time.
	inHand = 64
	// answerTime bounds one answer; whoever asked does not wait longer.
	answerTime = 10 * time.Second
)

// Handler answers one request with a value that is sent as JSON. A *problem.Problem is a refusal; every other error is
// logged, and the other side learns only that there was one.
type Handler func(ctx context.Context, request []byte) (any, error)

// Service is what a process serves: its endpoints are NAME.ENDPOINT below the namespace's subject for questions.
type Service struct {
	Name        string // "gate"
	Description string
	Endpoints   map[string]Handler
	Keys        events.Keys // verify the questions, and sign the answers
	Log         *slog.Logger
}

// server answers the requests of one service.
type server struct {
	Service
	nc    *nats.Conn
	ctx   context.Context // ends with the service
	slots chan struct{}   // a token for each request in hand

	foreign sync.Once // the log has been told of questions that are not signed
}

// Serve answers questions about the namespace of names, sharing them with every other process that does. stop takes no
// more, waits until those in hand are answered, and must be called once.
func Serve(nc *nats.Conn, names events.Names, service Service) (stop func() error, err error) {
	added, err := micro.AddService(nc, micro.Config{Name: names.Service(service.Name), Version: "1.0.0", Description: service.Description})
	if err != nil {
		return nil, fmt.Errorf("serve the %s: %w", service.Name, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{Service: service, nc: nc, ctx: ctx, slots: make(chan struct{}, inHand)}
	for endpoint, answer := range service.Endpoints {
		subject := micro.WithEndpointSubject(names.RPC(service.Name + "." + endpoint))
		if err := added.AddEndpoint(endpoint, s.handler(answer), subject); err != nil {
			cancel()
			return nil, errors.Join(fmt.Errorf("serve the %s: %w", service.Name, err), added.Stop())
		}
	}
	return func() error {
		defer cancel()
		err := added.Stop()
		if !nc.IsConnected() {
			return nil // nobody can be answered, and the broker knows that we are gone
		}
		return errors.Join(err, s.drain())
	}, nil
}

// drain waits until nothing is in hand any more.
func (s *server) drain() error {
	flushed := s.nc.FlushTimeout(answerTime) // nothing new comes after it
	deadline := time.NewTimer(answerTime)
	defer deadline.Stop()
	for range inHand {
		select {
		case s.slots <- struct{}{}:
		case <-deadline.C:
			return errors.Join(flushed, fmt.Errorf("stop the %s: requests are still in hand", s.Name))
		}
	}
	return errors.Join(flushed, s.nc.FlushTimeout(answerTime)) // the last answers leave
}

// handler answers each request on a goroutine of its own: the driver calls it for one after the other.
func (s *server) handler(answer Handler) micro.HandlerFunc {
	return func(r micro.Request) {
		select {
		case s.slots <- struct{}{}:
		case <-s.ctx.Done():
			return // nobody answers; the client takes it for away
		}
		go func() {
			defer func() { <-s.slots }()
			s.serve(r, answer)
		}()
	}
}

// serve answers one request. It does not use the request's own ways to respond: the driver reads their traces at once.
func (s *server) serve(r micro.Request, answer Handler) {
	ctx, cancel := context.WithTimeout(s.ctx, answerTime)
	defer cancel()
	keys := s.Keys
	if !genuine(keys, r.Subject(), r.Headers(), r.Data()) { // silence would look like an absent service to the other one
		answer, keys = s.refuse, nil
	}
	reply, err := s.reply(ctx, r.Data(), answer)
	if err != nil {
		if problem.As(err) == nil {
			s.Log.Error("a question of the other service cannot be answered", "subject", r.Subject(), "error", err)
		}
		reply = refusalMessage(err)
	}
	reply.Subject = r.Reply()
	signAnswer(keys, r.Headers(), reply)
	if err := s.nc.PublishMsg(reply); err != nil {
		s.Log.Warn("an answer to the other service does not get away", "subject", r.Subject(), "error", err)
	}
}

// refuse answers whoever has none of our keys.
func (s *server) refuse(context.Context, []byte) (any, error) {
	s.foreign.Do(func() {
		s.Log.Warn("a question's signature is missing or wrong, it is refused, as are further ones; both services need the same TOMBSTONE_MESSAGE_KEY", "service", s.Name)
	})
	return nil, problem.New(problem.Unavailable, "the services do not share a key; whoever runs them must set the same TOMBSTONE_MESSAGE_KEY")
}

// reply calls answer; a panic of it is an error like others.
func (s *server) reply(ctx context.Context, request []byte, answer Handler) (reply *nats.Msg, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	value, err := answer(ctx, request)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	if len(data) > s.limit() {
		return nil, problem.New(problem.PayloadTooLarge, "the answer has %d bytes, more than the broker takes; keep less in the asset's attributes", len(data))
	}
	return &nats.Msg{Data: data}, nil
}

// limit is the largest reply, in bytes.
func (s *server) limit() int { return int(s.nc.MaxPayload()) - headroom }

// Fitting is the encoded answers that fit into one reply, the first ones, at least one; what does not fit is asked again.
func Fitting[T any](answers []T) ([]json.RawMessage, error) {
	fitting := []json.RawMessage{}
	size := 0
	for _, a := range answers {
		data, err := json.Marshal(a)
		if err != nil {
			return nil, fmt.Errorf("encode answer: %w", err)
		}
		if size += len(data) + 1; size > MaxBytes && len(fitting) > 0 {
			break
		}
		fitting = append(fitting, data)
	}
	return fitting, nil
}
