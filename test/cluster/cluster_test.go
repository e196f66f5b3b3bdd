package cluster

import (
	"os"
	"testing"

	"github.com/tombstone-project/tombstone/test/containers"
)

func TestMain(m *testing.M) { containers.Main(m) }

// TestCluster is one test, so that the program is built once. It takes a quarter of an hour, or some minutes with -short:
// the size that every change must pass.
func TestCluster(t *testing.T) {
	if os.Getenv("TOMBSTONE_CLUSTER") == "" {
		t.Skip("skipped: it takes minutes; `make cluster` runs it")
	}
	binary := Build(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, binary string)
	}{
		{"kills at random under load lose nothing and touch nothing else", randomKills},
		{"a service is killed", killedAtPoints},
		{"a worker is frozen, and wakes when the asset lives again, before", frozenWorkers},
		{"a store fails", failingStores},
		{"processes are asked to end with a lot in hand", gracefulStop},
		{"versions and processes change one after the other under load", rollingRestarts},
		{"two replicas of each service delete, and one", replicas},
		{"the ledger is lost, and is older than the graph", forgottenLedger},
		{"the graph is older than the stores", olderGraph},
		{"a bucket refuses everything, and others go on", deniedBucket},
		{"the leader of three broker nodes is killed, and cut off", brokerNodes},
		{"the broker loses everything, and", wipedBroker},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, binary) })
	}
}
