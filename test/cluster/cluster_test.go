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
}
