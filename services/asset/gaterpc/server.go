package gaterpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
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

// server answers requests with a gate.
type server struct {
	nc    *nats.Conn
	gate  Gate
	log   *slog.Logger
	ctx   context.Context // ends with the service
	slots chan struct{}   // a token for each request in hand
}

// Serve answers questions about the namespace of names with gate, sharing them with every other process that does. stop
// takes no more, waits until those in hand are answered, and must be called once.
func Serve(nc *nats.Conn, names events.Names, gate Gate, logger *slog.Logger) (stop func() error, err error) {
	service, err := micro.AddService(nc, micro.Config{Name: names.Service("gate"), Version: "1.0.0",
		Description: "Tells the asset service what may be erased, read and written."})
	if err != nil {
		return nil, fmt.Errorf("serve the gate: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{nc: nc, gate: gate, log: logger, ctx: ctx, slots: make(chan struct{}, inHand)}
	for endpoint, answer := range map[string]func(context.Context, []byte) (any, error){endpointCurrent: s.current, endpointAdmit: s.admit} {
		name := endpoint[len("gate."):]
		if err := service.AddEndpoint(name, s.handler(answer), micro.WithEndpointSubject(names.RPC(endpoint))); err != nil {
			cancel()
			return nil, errors.Join(fmt.Errorf("serve the gate: %w", err), service.Stop())
		}
	}
	return func() error {
		defer cancel()
		err := service.Stop()
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
			return errors.Join(flushed, errors.New("stop the gate: requests are still in hand"))
		}
	}
	return errors.Join(flushed, s.nc.FlushTimeout(answerTime)) // the last answers leave
}

// handler answers each request on a goroutine of its own: the driver calls it for one after the other.
func (s *server) handler(answer func(context.Context, []byte) (any, error)) micro.HandlerFunc {
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
func (s *server) serve(r micro.Request, answer func(context.Context, []byte) (any, error)) {
	ctx, cancel := context.WithTimeout(s.ctx, answerTime)
	defer cancel()
	reply, err := s.reply(ctx, r.Data(), answer)
	if err != nil {
		if problem.As(err) == nil {
			s.log.Error("gate cannot answer", "subject", r.Subject(), "error", err)
		}
		reply = refusalMessage(err)
	}
	reply.Subject = r.Reply()
	if err := s.nc.PublishMsg(reply); err != nil {
		s.log.Warn("gate's answer does not get away", "subject", r.Subject(), "error", err)
	}
}

// reply calls answer; a panic of it is an error like others.
func (s *server) reply(ctx context.Context, request []byte, answer func(context.Context, []byte) (any, error)) (reply *nats.Msg, err error) {
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

func (s *server) admit(ctx context.Context, request []byte) (any, error) {
	var admission events.Admission
	if err := json.Unmarshal(request, &admission); err != nil {
		return nil, problem.New(problem.InvalidRequest, "not an admission: %v", err)
	}
	return s.gate.Admit(ctx, admission)
}

func (s *server) current(ctx context.Context, request []byte) (any, error) {
	var asked struct {
		Questions []events.Question `json:"questions"`
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, problem.New(problem.InvalidRequest, "not a list of questions: %v", err)
	}
	answers, err := s.gate.Current(ctx, asked.Questions)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(asked.Questions) {
		return nil, fmt.Errorf("gate gave %d answers to %d questions", len(answers), len(asked.Questions))
	}
	return s.fitting(answers)
}

// fitting is the answers that fit into one reply, at least one.
func (s *server) fitting(answers []events.Answer) (currentReply, error) {
	reply := currentReply{Answers: []json.RawMessage{}}
	size := 0
	for _, a := range answers {
		data, err := json.Marshal(a)
		if err != nil {
			return reply, fmt.Errorf("encode answer: %w", err)
		}
		if size += len(data) + 1; size > maxBytes && len(reply.Answers) > 0 {
			break
		}
		reply.Answers = append(reply.Answers, data)
	}
	return reply, nil
}
