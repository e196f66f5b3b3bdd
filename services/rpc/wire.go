// Package rpc carries questions between the two services over NATS: one side serves endpoints as a micro service, any number
// of replicas sharing the questions, and the other side asks. The packages of the ports stand on it: gaterpc, storesrpc.
//
// A refusal (*problem.Problem) arrives as a refusal. No answer, for whatever reason, is problem.Unavailable.
package rpc

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/tombstone-project/tombstone/problem"
)

const (
	// MaxBytes bounds a list in one request, and in one reply: far below what a broker takes by default (1 MiB).
	MaxBytes = 256 << 10
	// headroom is left free in a reply for headers and for what is around the answers, in bytes.
	headroom = 16 << 10
)

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
func refused(endpoint string, m *nats.Msg) error {
	code := m.Header.Get(micro.ErrorCodeHeader)
	if code == "" {
		return nil
	}
	var r refusal
	if err := json.Unmarshal(m.Data, &r); err != nil || r.Name == "" {
		return fmt.Errorf("%s answered with error %s: %s", endpoint, code, m.Header.Get(micro.ErrorHeader))
	}
	return &problem.Problem{Name: r.Name, Detail: r.Detail, Field: r.Field, Members: r.Members}
}
