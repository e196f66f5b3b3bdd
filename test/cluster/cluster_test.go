//go:build cluster

package cluster

import (
	"testing"

	"github.com/tombstone-project/tombstone/test/containers"
)

func TestMain(m *testing.M) { containers.Main(m) }

// TestCluster is one test, so that the program is built once.
func TestCluster(t *testing.T) {
	binary := Build(t)
	t.Run("kills at random under load lose nothing and touch nothing else", func(t *testing.T) { randomKills(t, binary) })
	t.Run("a service is killed", func(t *testing.T) { killedAtPoints(t, binary) })
	if testing.Short() {
		return // the others take minutes
	}
	t.Run("a worker is frozen, and wakes when the asset lives again, before", func(t *testing.T) { frozenWorkers(t, binary) })
	t.Run("a store fails", func(t *testing.T) { failingStores(t, binary) })
	t.Run("processes are asked to end with a lot in hand", func(t *testing.T) { gracefulStop(t, binary) })
	t.Run("the ledger is lost, and is older than the graph", func(t *testing.T) { forgottenLedger(t, binary) })
	t.Run("the graph is older than the stores", func(t *testing.T) { olderGraph(t, binary) })
	t.Run("a bucket refuses everything, and others go on", func(t *testing.T) { deniedBucket(t, binary) })
	t.Run("the leader of three broker nodes is killed, and cut off", func(t *testing.T) { brokerNodes(t, binary) })
	t.Run("the broker loses everything, and", func(t *testing.T) { wipedBroker(t, binary) })
}
