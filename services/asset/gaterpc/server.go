package gaterpc

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/rpc"
)

// server answers requests with a gate.
type server struct{ gate Gate }

// Serve answers questions about the namespace of names with gate, sharing them with every other process that does. stop
// takes no more, waits until those in hand are answered, and must be called once.
func Serve(nc *nats.Conn, names events.Names, keys events.Keys, gate Gate, logger *slog.Logger) (stop func() error, err error) {
	s := server{gate}
	return rpc.Serve(nc, names, rpc.Service{Name: service, Description: "Tells the asset service what may be erased, read and written.",
		Endpoints: map[string]rpc.Handler{
			endpointCurrent: s.current,
			endpointAdmit:   answering(gate.Admit),
			endpointGrant:   answering(gate.Grant),
			endpointLease:   answering(gate.Lease),
			endpointRenew:   answering(gate.Renew),
		}, Keys: keys, Log: logger})
}

// answering reads one request for a call of the gate that takes one.
func answering[Q, R any](call func(context.Context, Q) (R, error)) rpc.Handler {
	return func(ctx context.Context, request []byte) (any, error) {
		var q Q
		if err := json.Unmarshal(request, &q); err != nil {
			return nil, problem.New(problem.InvalidRequest, "not a request of this call: %v", err)
		}
		return call(ctx, q)
	}
}

func (s server) current(ctx context.Context, request []byte) (any, error) {
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
	fitting, err := rpc.Fitting(answers)
	return currentReply{fitting}, err
}
