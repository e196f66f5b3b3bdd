package tracing

import (
	"context"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Graph makes spans of the transactions, in the traces of all who share one.
func (t *Tracer) Graph(g dependency.Graph) dependency.Graph {
	if t == nil {
		return g
	}
	return graph{g, t}
}

type graph struct {
	dependency.Graph
	t *Tracer
}

func (g graph) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	end := g.t.calls(ctx, "graph update")
	err := g.Graph.Update(ctx, fn)
	end(err)
	return err
}

func (g graph) View(ctx context.Context, fn func(dependency.Tx) error) error {
	end := g.t.calls(ctx, "graph view")
	err := g.Graph.View(ctx, fn)
	end(err)
	return err
}
