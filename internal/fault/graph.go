package fault

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Graph wraps dependency.Graph. Ping and Close pass through.
type Graph struct {
	dependency.Graph
	process *Process
}

// NewGraph makes the graph as the process sees it.
func NewGraph(p *Process, g dependency.Graph) *Graph { return &Graph{g, p} }

// errAgain rolls back a transaction that is to run twice.
var errAgain = errors.New("this attempt is rolled back")

// Update wraps the transaction: before it, and after its commit.
func (g *Graph) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	call := Call{Port: "graph", Method: "Update", Items: 1, About: caller()}
	fn = g.wrapped(call.About, fn)
	kind, err := g.process.begin(call)
	if err == nil && kind == Twice {
		err = g.Graph.Update(ctx, func(tx dependency.Tx) error { return errors.Join(fn(tx), errAgain) })
		if errors.Is(err, errAgain) {
			err = nil
		}
	}
	if err == nil {
		err = g.process.finish(kind, g.Graph.Update(ctx, fn))
	}
	return unavailable(err)
}

// wrapped runs fn on a wrapped transaction. A call in it that failed fails it, whatever fn makes of that.
func (g *Graph) wrapped(about string, fn func(dependency.Tx) error) func(dependency.Tx) error {
	return func(inner dependency.Tx) error {
		t := &tx{Tx: inner, process: g.process, about: about}
		if err := fn(t); err != nil {
			return err
		}
		return t.failed
	}
}

// View wraps the reading.
func (g *Graph) View(ctx context.Context, fn func(dependency.Tx) error) error {
	call := Call{Port: "graph", Method: "View", Items: 1, About: caller()}
	return unavailable(g.process.do(ctx, call, func(ctx context.Context, _ int) error {
		return g.Graph.View(ctx, g.wrapped(call.About, fn))
	}))
}

// caller names the function that uses the graph, as "(*Service).accept": what a transaction is for.
func caller() string {
	pc, _, _, _ := runtime.Caller(2)
	name := runtime.FuncForPC(pc).Name()
	return name[strings.LastIndex(name, "/")+1:]
}

// Prepare wraps the preparing.
func (g *Graph) Prepare(ctx context.Context) error {
	return unavailable(g.process.do(ctx, Call{Port: "graph", Method: "Prepare", Items: 1}, func(ctx context.Context, _ int) error {
		return g.Graph.Prepare(ctx)
	}))
}

// unavailable makes a fault of ours what the port calls a store that does not answer; other errors stay.
func unavailable(err error) error {
	if !errors.Is(err, ErrLost) && !errors.Is(err, ErrCrashed) || problem.As(err) != nil {
		return err
	}
	return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "the graph does not answer; try again").With("store", "graph"), err)
}
