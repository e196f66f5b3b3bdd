// Package graphtest is the contract of dependency.Graph as tests: every adapter passes them, and what an adapter's
// own tests hold beyond that is only what is special to its store.
package graphtest

import (
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Run holds a graph to the contract of ports.go. Each group of tests calls open once for an empty, prepared graph, and
// closes it; the groups run one after the other, so open may wipe one shared store. Under -short the races run fewer
// rounds.
func Run(t *testing.T, open func(t *testing.T) dependency.Graph) {
	groups := []struct {
		name string
		test func(*testing.T, dependency.Graph)
	}{
		{"records", testRecords},
		{"nodes", testNodes},
		{"links", testLinks},
		{"link model", testLinkModel},
		{"deletions", testDeletions},
		{"incomplete", testIncomplete},
		{"erasures", testErasures},
		{"commands", testCommands},
		{"trail", testTrail},
		{"batches", testBatches},
		{"misc", testMisc},
		{"transactions", testTransactions},
		{"races", testRaces},
		{"locks", testLocks},
		{"rules", testRules},
		{"doors", testDoors},
		{"lifecycle", testLifecycle},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			g := open(t)
			t.Cleanup(func() {
				if err := g.Close(teardown(t)); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			group.test(t, g)
		})
	}
}
