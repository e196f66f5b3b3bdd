package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// killedAtPoints kills a process at each of the points, in the middle of a deletion, and starts it again; deletions that
// were interrupted before may go on meanwhile. In the end it wants all of them to be completed. There is one process of
// each service, so that nobody else can take over.
func killedAtPoints(t *testing.T, binary string) {
	s := stores.Containers(t)
	c := New(t, binary, s, 2*time.Second)
	wires := map[Role]map[Store]*Wire{Dependency: {}, Asset: {}}
	for role, needs := range map[Role][]Store{Dependency: {Graph, Broker}, Asset: {Broker, Documents, Blobs}} {
		through := s
		for _, store := range needs {
			wires[role][store] = NewWire(t, Address(t, s, store))
			through = Through(t, through, store, wires[role][store].Address)
		}
		c.Start(role, through)
	}
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "bystander")
	victims := map[string]dependency.Asset{}
	for i, p := range killPoints {
		id := fmt.Sprintf("victim-%d", i)
		t.Run(string(p.role)+" "+p.name, func(t *testing.T) { victims[id] = killedAt(t, l, wires[p.role][p.store], p, id) })
	}
	for id, a := range victims {
		if err := l.await(t.Context(), l.deletionOf(id), []dependency.Asset{a}); err != nil {
			t.Fatal(err)
		}
	}
	c.AwaitReady()
	api := c.With(Dependency)[0]
	invariants.Check(t, invariants.World{API: api.Client, URL: api.URL, Stores: s}, l.known())
	t.Logf("%d points", len(killPoints))
}

// killedAt gives the asset whose deletion was accepted.
func killedAt(t *testing.T, l *load, wire *Wire, p killPoint, id string) dependency.Asset {
	victim, worker := l.c.With(p.role)[0], l.c.With(Asset)[0]
	a := victimOf(t, l, p, id)
	if p.given == waiting {
		worker.Freeze()
	}
	var trap *Trap
	if p.given != late {
		trap = wire.Arm(p.point.in(l.c.Stores))
	}
	accepted := make(chan error, 1)
	go func() {
		_, err := l.delete(t.Context(), []dependency.Asset{a}, dependency.DeleteRequest{})
		accepted <- err
	}()
	if p.given == late {
		if err := <-accepted; err != nil {
			t.Fatal(err)
		}
		trap = wire.Arm(p.point.in(l.c.Stores))
		accepted <- nil
	}
	awaitCaught(t, trap)
	victim.Kill() // and what it had sent is lost with it
	trap.Drop()
	victim.Restart()
	worker.Thaw()
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	return a
}

func victimOf(t *testing.T, l *load, p killPoint, id string) dependency.Asset {
	t.Helper()
	if p.given != late {
		return filled(t, l, id)
	}
	a, err := l.create(t.Context(), "late", id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
