// Package gaterpc carries the asset service's port Gate over NATS (package rpc): the dependency service serves it, and the
// asset service dials it.
package gaterpc

import (
	"context"
	"encoding/json"

	"github.com/tombstone-project/tombstone/events"
)

// Gate is the port as served here.
type Gate interface {
	Current(ctx context.Context, questions []events.Question) ([]events.Answer, error)
	Admit(ctx context.Context, admission events.Admission) (events.Admitted, error)
	Grant(ctx context.Context, r events.GrantRequest) (events.Granted, error)
	Lease(ctx context.Context, r events.LeaseRequest) (events.Leased, error)
	Renew(ctx context.Context, r events.RenewRequest) (events.Leased, error)
}

// The service and its endpoints.
const (
	service         = "gate"
	endpointCurrent = "current"
	endpointAdmit   = "admit"
	endpointGrant   = "grant"
	endpointLease   = "lease"
	endpointRenew   = "renew"
)

// maxQuestions bounds one request.
const maxQuestions = 500

// currentRequest asks many questions at once.
type currentRequest struct {
	Questions []json.RawMessage `json:"questions"` // events.Question
}

// currentReply has the answers to the first questions, at least one: what does not fit is asked again.
type currentReply struct {
	Answers []json.RawMessage `json:"answers"` // events.Answer
}
