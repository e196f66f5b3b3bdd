package fault

import (
	"context"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Gate wraps asset.Gate: the questions of the asset service on their way to the graph.
type Gate struct {
	inner   asset.Gate
	process *Process
}

// NewGate makes the gate as the process asks it.
func NewGate(p *Process, inner asset.Gate) *Gate { return &Gate{inner, p} }

// Current wraps the questions.
func (g *Gate) Current(ctx context.Context, questions []events.Question) (answers []events.Answer, err error) {
	if len(questions) == 0 {
		return g.inner.Current(ctx, questions)
	}
	call := Call{Port: "gate", Method: "Current", Items: len(questions), About: questions[0].Asset}
	err = g.process.do(ctx, call, func(ctx context.Context, _ int) (err error) {
		answers, err = g.inner.Current(ctx, questions)
		return err
	})
	return answers, err
}

// Admit wraps the admission.
func (g *Gate) Admit(ctx context.Context, a events.Admission) (events.Admitted, error) {
	return askOne(ctx, g, "Admit", a.Asset, a, g.inner.Admit)
}

// Grant wraps the request for an upload.
func (g *Gate) Grant(ctx context.Context, r events.GrantRequest) (events.Granted, error) {
	return askOne(ctx, g, "Grant", r.Asset, r, g.inner.Grant)
}

// Lease wraps the request for a lease.
func (g *Gate) Lease(ctx context.Context, r events.LeaseRequest) (events.Leased, error) {
	return askOne(ctx, g, "Lease", r.Asset, r, g.inner.Lease)
}

// Renew wraps a change under a lease.
func (g *Gate) Renew(ctx context.Context, r events.RenewRequest) (events.Leased, error) {
	return askOne(ctx, g, "Renew", r.Asset, r, g.inner.Renew)
}

// askOne is a call of the gate about one asset.
func askOne[Q, R any](ctx context.Context, g *Gate, method, asset string, q Q, call func(context.Context, Q) (R, error)) (answer R, err error) {
	err = g.process.do(ctx, Call{Port: "gate", Method: method, Items: 1, About: asset}, func(ctx context.Context, _ int) (err error) {
		answer, err = call(ctx, q)
		return err
	})
	return answer, err
}
