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
func (g *Gate) Admit(ctx context.Context, a events.Admission) (admitted events.Admitted, err error) {
	err = g.process.do(ctx, Call{Port: "gate", Method: "Admit", Items: 1, About: a.Asset}, func(ctx context.Context, _ int) (err error) {
		admitted, err = g.inner.Admit(ctx, a)
		return err
	})
	return admitted, err
}
