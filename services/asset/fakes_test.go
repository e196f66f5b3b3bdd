package asset_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

// gate is the graph's side: it wants what it was told, and remembers what it was asked.
type gate struct {
	steps *steps

	mu       sync.Mutex
	wanted   map[string]events.Answer // by deletion, asset, generation, part, part's generation
	asked    []events.Question
	onAsk    func(n int) // before the n-th answer, from 1
	paused   bool
	admit    func(events.Admission) (events.Admitted, error)
	admitted []events.Admission
	grant    func(events.GrantRequest) (events.Granted, error)
	recheck  func(events.Question) events.Answer // nil: every later look is over
}

func questionKey(deletion, id, generation, part, partGeneration string) string {
	return strings.Join([]string{deletion, id, generation, part, partGeneration}, "\x00")
}

// want makes the graph answer yes to a command's questions.
func (g *gate) want(c events.Erase) {
	g.answer(c, events.Answer{Erase: true, Owner: c.Owner, Kind: c.Kind})
}

func (g *gate) answer(c events.Erase, a events.Answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	parts := c.Parts
	if parts == nil {
		parts = map[string]string{"": ""}
		for _, part := range []string{"description", "payload", "thumbnail", "info", "raw", "body", "content", "note"} {
			parts[part] = c.Generation
		}
	}
	for part, generation := range parts {
		g.wanted[questionKey(c.Deletion, c.Asset, c.Generation, part, generation)] = a
	}
}

// refuse makes the graph answer no from now on.
func (g *gate) refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.wanted)
}

func (g *gate) Current(ctx context.Context, questions []events.Question) ([]events.Answer, error) {
	call := memory.Call{Store: "gate", Method: "Current", Size: len(questions)}
	if err := g.steps.before(ctx, call); err != nil {
		return nil, err
	}
	answers := make([]events.Answer, len(questions))
	for i, q := range questions {
		g.mu.Lock()
		g.asked = append(g.asked, q)
		n, onAsk := len(g.asked), g.onAsk
		g.mu.Unlock()
		if onAsk != nil {
			onAsk(n)
		}
		answers[i] = g.current(q)
	}
	return answers, g.steps.after(ctx, call)
}

func (g *gate) current(q events.Question) events.Answer {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.paused {
		return events.Answer{Paused: true, Why: "paused"}
	}
	if q.Recheck > 0 {
		if g.recheck == nil {
			return events.Answer{Why: "over"}
		}
		return g.recheck(q)
	}
	parts := q.Parts
	if parts == nil {
		parts = map[string]string{"": ""}
	}
	answer := events.Answer{Why: "nothing asked"}
	for part, generation := range parts {
		answer = g.wanted[questionKey(q.Deletion, q.Asset, q.Generation, part, generation)]
		if !answer.Erase {
			return events.Answer{Why: "part " + part + " is not to be erased"}
		}
	}
	return answer
}

func (g *gate) Admit(_ context.Context, a events.Admission) (events.Admitted, error) {
	g.admitted = append(g.admitted, a)
	return g.admit(a)
}

func (g *gate) Grant(_ context.Context, r events.GrantRequest) (events.Granted, error) {
	return g.grant(r)
}

func (g *gate) Lease(_ context.Context, r events.LeaseRequest) (events.Leased, error) {
	return events.Leased{Token: r.Asset + "'s", Until: start.Add(r.TTL)}, nil
}

func (g *gate) Renew(_ context.Context, r events.RenewRequest) (events.Leased, error) {
	if r.Token != r.Asset+"'s" {
		return events.Leased{}, problem.New(problem.LeaseLost, "no")
	}
	return events.Leased{Token: r.Token, Until: start.Add(r.TTL)}, nil
}

func (g *gate) questions() []events.Question {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked)
}

// bus keeps what is published.
type bus struct {
	steps *steps

	mu      sync.Mutex
	reports []events.Report
	heads   []events.Envelope
}

func (b *bus) Publish(ctx context.Context, messages []saga.Message) []error {
	call := memory.Call{Store: "bus", Method: "Publish", Size: len(messages)}
	if err := b.steps.before(ctx, call); err != nil {
		return slices.Repeat([]error{err}, len(messages))
	}
	errs := make([]error, len(messages))
	for i, m := range messages {
		head, report, err := events.DecodeReport(m.Data)
		if want := (events.Names{}).Report(head.Type, assetOf(report)); err == nil && m.Subject != want {
			err = fmt.Errorf("subject %q, want %q", m.Subject, want)
		}
		if errs[i] = err; err == nil {
			b.mu.Lock()
			b.reports, b.heads = append(b.reports, report), append(b.heads, head)
			b.mu.Unlock()
		}
	}
	if err := b.steps.after(ctx, call); err != nil {
		return slices.Repeat([]error{err}, len(messages))
	}
	return errs
}

func (b *bus) Purge(context.Context, []string) error { return nil }

func assetOf(r events.Report) string {
	switch r := r.(type) {
	case *events.AssetErased:
		return r.Asset
	case *events.PartErased:
		return r.Asset
	case *events.PartProgress:
		return r.Asset
	}
	return ""
}

// of gives the reports of one type, in order.
func of[R events.Report](b *bus) []R {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []R
	for _, report := range b.reports {
		if r, ok := report.(R); ok {
			out = append(out, r)
		}
	}
	return out
}
