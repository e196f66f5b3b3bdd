package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// frozenWorkers freezes a worker in the middle of an erasure, before it sends one request. Another worker finishes, the
// asset lives again, and only then the request reaches its store and the frozen worker goes on. The new generation must
// not feel it.
func frozenWorkers(t *testing.T, binary string) {
	const resent, redelivered = 2 * time.Second, time.Hour // the latter: the broker alone gives the command to another
	for _, c := range []struct {
		before  string
		store   Store
		pattern string // BUCKET and NAMESPACE are replaced
		resend  time.Duration
		short   bool // done in any case
	}{
		{"it lists", Blobs, "encoding-type=url", resent, false},
		{"it writes its inventory", Documents, "insert\x00", resent, false},
		{"it deletes a document", Documents, "delete\x00\x06\x00\x00\x00notes\x00", resent, false},
		{"it deletes objects", Blobs, "POST /BUCKET?delete", resent, true},
		{"it deletes objects, past its ack window", Blobs, "POST /BUCKET?delete", redelivered, false},
		{"it reports", Broker, "NAMESPACE.report.asset.erased", resent, true},
		{"it acknowledges", Broker, "+ACK", resent, false},
	} {
		if testing.Short() && !c.short {
			continue
		}
		t.Run(c.before, func(t *testing.T) {
			s := stores.Containers(t)
			frozenWorker(t, New(t, binary, s, c.resend), c.store, strings.NewReplacer("BUCKET", s.Bucket, "NAMESPACE", s.Namespace).Replace(c.pattern))
		})
	}
}

func frozenWorker(t *testing.T, c *Cluster, store Store, pattern string) {
	s := c.Stores
	dep, other := c.Start(Dependency, s), c.Start(Asset, s)
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "bystander")
	first := filled(t, l, "phoenix")
	other.Stop()

	wire := NewWire(t, Address(t, s, store))
	trap := wire.Arm(Point{Sent: []string{pattern}})
	worker := c.Start(Asset, Through(t, s, store, wire.Address))
	d, err := l.delete(t.Context(), []dependency.Asset{first}, dependency.DeleteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	awaitCaught(t, trap)
	worker.Freeze()
	other.Restart()
	if err := l.await(t.Context(), d.ID, []dependency.Asset{first}); err != nil {
		t.Fatal(err)
	}
	second := filled(t, l, "phoenix")
	if second.Generation <= first.Generation {
		t.Fatalf("generation %s after %s", second.Generation, first.Generation)
	}

	trap.Release()
	worker.Thaw()
	worker.Stop() // what it has in hand is finished first
	invariants.Check(t, invariants.World{API: dep.Client, URL: dep.URL, Stores: s}, l.known())
	a, err := dep.Asset(t.Context(), "phoenix")
	if err != nil || a.Generation != second.Generation || a.Status != dependency.Live {
		t.Errorf("the asset that lives again: %+v, %v", a, err)
	}
	for _, part := range []string{"description", "note"} {
		if _, err := other.GetDocument(t.Context(), "phoenix", part); err != nil {
			t.Errorf("the new %s: %v", part, err)
		}
	}
}

// awaitCaught waits for the moment of a trap.
func awaitCaught(t *testing.T, trap *Trap) {
	t.Helper()
	select {
	case <-trap.Caught:
	case <-time.After(patience):
		t.Fatalf("the moment did not come: %+v", trap.point)
	}
}
