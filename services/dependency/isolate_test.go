package dependency_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var errPoisoned = errors.New("this node cannot be written")

// poisoned is a graph that cannot write one node.
type poisoned struct {
	dependency.Graph
	id string
}

func (g poisoned) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	return g.Graph.Update(ctx, func(tx dependency.Tx) error { return fn(poisonedTx{tx, g.id}) })
}

type poisonedTx struct {
	dependency.Tx
	id string
}

func (tx poisonedTx) SaveNodes(ctx context.Context, nodes []dependency.Node) error {
	if slices.ContainsFunc(nodes, func(n dependency.Node) bool { return n.ID == tx.id }) {
		return errPoisoned
	}
	return tx.Tx.SaveNodes(ctx, nodes)
}

func TestOneItemThatCannotBeWrittenDoesNotFailItsNeighbours(t *testing.T) {
	const n = 30
	healthy := newBench(t)
	for i := range n {
		healthy.create("bare", fmt.Sprintf("a%d", i))
	}
	b := benchOn(t, poisoned{healthy.graph, "a7"}, policyText)
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { _, errs[i] = b.Delete(b.ctx, fmt.Sprintf("a%d", i), dependency.DeleteRequest{}) })
	}
	wg.Wait()
	for i, err := range errs {
		if bad := i == 7; bad != errors.Is(err, errPoisoned) || !bad && err != nil {
			t.Errorf("a%d: %v", i, err)
		}
	}
	if got := b.asset("a7").Status; got != dependency.Live {
		t.Errorf("a7 is %s", got)
	}
}
