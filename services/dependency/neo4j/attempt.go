package neo4j

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// How long to go on trying. A conflict is tried again until ctx ends: somebody else got on. The others are bounded:
// a duplicate may be the caller's own, a transaction that is too big for the server's memory stays too big, and the
// caller of a server that is away wants to know soon.
const (
	racesTolerated   = 10
	strainsTolerated = 2
	lossesTolerated  = 3
	awayTolerated    = time.Second
)

// transact runs fn in transactions until one of them is done, or it is of no use to go on, or the time is over.
func (g *Graph) transact(ctx context.Context, keep bool, timeout time.Duration, fn func(dependency.Tx) error) error {
	give, err := g.take()
	if err != nil {
		return err
	}
	defer give()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	p := patience{seen: time.Now(), delay: delays()}
	for {
		f, err := g.attempt(ctx, keep, fn)
		if err == nil {
			return nil
		}
		if !p.again(ctx, f) {
			return g.verdict(ctx, f, err)
		}
	}
}

func delays() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.RandomizationFactor = 5*time.Millisecond, 250*time.Millisecond, 0.9
	return b
}

// patience counts the attempts of one transaction.
type patience struct {
	seen                   time.Time // when the server was there, or could be thought to be
	delay                  *backoff.ExponentialBackOff
	races, strains, losses int
}

// again tells whether to try again after a fault, and waits a little before.
func (p *patience) again(ctx context.Context, f fault) bool {
	if !p.tolerates(f) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(p.delay.NextBackOff()):
		return true
	}
}

func (p *patience) tolerates(f fault) bool {
	switch f {
	case conflict:
		return true
	case race:
		p.races++
		return p.races <= racesTolerated
	case strain:
		p.strains++
		return p.strains <= strainsTolerated
	case lost:
		p.losses++
		p.seen = time.Now()
		return p.losses <= lossesTolerated
	case away:
		return time.Since(p.seen) <= awayTolerated
	}
	return false
}

// verdict is the error that the caller gets.
func (g *Graph) verdict(ctx context.Context, f fault, err error) error {
	switch {
	case f == foreign, f == race && ctx.Err() == nil, f == strain && ctx.Err() == nil:
		return err
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "the graph at %s does not answer; try again later", g.host), err)
}

// attempt runs fn once. When it fails, nothing is kept, but for the fault late at a commit: then it is not known.
func (g *Graph) attempt(ctx context.Context, keep bool, fn func(dependency.Tx) error) (fault, error) {
	s := g.session(ctx)
	defer func() { _ = s.Close(ctx) }() // what is not committed is undone; a connection that fails here is thrown away
	raw, err := g.begin(ctx, s)
	if err != nil {
		return beginFault(ctx, err), fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = raw.Close(ctx) }()
	deadline, _ := ctx.Deadline()
	t := newTx(raw, g.names, deadline)
	if err := fn(t); err != nil {
		return t.blame(err), err
	}
	switch {
	case t.failed != nil: // fn passed over it, but the transaction is lost
		return t.fault, t.failed
	case !keep:
		return foreign, nil
	}
	if err := raw.Commit(ctx); err != nil {
		return commitFault(ctx, err), fmt.Errorf("commit: %w", err)
	}
	return foreign, nil
}

// left is the time until ctx ends, for the server, which ends the transaction and its waits for locks then. Zero would
// mean for ever.
func left(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return max(time.Until(deadline), time.Millisecond)
}
