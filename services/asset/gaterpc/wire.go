// Package gaterpc carries the asset service's port Gate over NATS: the dependency service serves it as a micro service, any
// number of replicas sharing the questions, and the asset service dials it.
//
// A refusal (*problem.Problem) arrives as a refusal. No answer, for whatever reason, is problem.Unavailable.
package gaterpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// Gate is the port as served here.
type Gate interface {
	Current(ctx context.Context, questions []events.Question) ([]events.Answer, error)
	Admit(ctx context.Context, admission events.Admission) (events.Admitted, error)
}

// The endpoints, below the subject rpc of the namespace.
const (
	endpointCurrent = "gate.current"
	endpointAdmit   = "gate.admit"
)

const (
	// maxQuestions and maxBytes bound one request, and maxBytes the answers of one reply: far below what a broker takes by
	// default (1 MiB).
	maxQuestions = 500
	maxBytes     = 256 << 10
	// headroom is left free in a reply for headers and for what is around the answers, in bytes.
	headroom = 16 << 10
)

// currentRequest asks many questions at once.
type currentRequest struct {
	Questions []json.RawMessage `json:"questions"` // events.Question
}

// currentReply has the answers to the first questions, at least one: what does not fit is asked again.
type currentReply struct {
	Answers []json.RawMessage `json:"answers"` // events.Answer
}

// refusal is a problem on its way.
type refusal struct {
	Name    problem.Name   `json:"name"`
	Detail  string         `json:"detail"`
	Field   string         `json:"field,omitempty"`
	Members map[string]any `json:"members,omitempty"`
}

// refusalMessage makes a reply of an error, with the headers by which any client of micro services knows it for one. An
// error that is no refusal tells only that the question failed: the rest is for the log here.
func refusalMessage(err error) *nats.Msg {
	p := problem.As(err)
	if p == nil {
		p = problem.New(problem.Internal, "the question could not be answered")
	}
	data, err := json.Marshal(refusal{p.Name, p.Detail, p.Field, p.Members})
	if err != nil { // members that are no JSON
		data, _ = json.Marshal(refusal{Name: p.Name, Detail: p.Detail, Field: p.Field})
	}
	return &nats.Msg{Data: data, Header: nats.Header{
		micro.ErrorHeader:     {string(p.Name)},
		micro.ErrorCodeHeader: {strconv.Itoa(p.Name.Status())},
	}}
}

// refused is the error that a reply carries; nil when it is an answer.
func refused(m *nats.Msg) error {
	code := m.Header.Get(micro.ErrorCodeHeader)
	if code == "" {
		return nil
	}
	var r refusal
	if err := json.Unmarshal(m.Data, &r); err != nil || r.Name == "" {
		return fmt.Errorf("gate answered with error %s: %s", code, m.Header.Get(micro.ErrorHeader))
	}
	return &problem.Problem{Name: r.Name, Detail: r.Detail, Field: r.Field, Members: r.Members}
}
