package cluster

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

const (
	// outageTime is how long a fault lasts at least: long enough for several tries, and for a busy loop to show.
	outageTime = 4 * time.Second
	// outageLines is how many lines a process may log meanwhile. One that tries without a pause logs thousands.
	outageLines = 150
	// outageAssets are deleted during each fault.
	outageAssets = 5
	// outageClients ask without a pause while there is no graph.
	outageClients = 4
	// spareGoroutines is how many more goroutines a process may have: requests in hand, and connections that were not open
	// before.
	spareGoroutines = 60
)

// failingStores puts a proxy before each store in turn, and lets it fail in every way while deletions are asked for.
func failingStores(t *testing.T, binary string) {
	for _, store := range []Store{Graph, Broker, Documents, Blobs} {
		t.Run(string(store), func(t *testing.T) {
			failingStore(t, binary, store)
		})
	}
}

// faults are those that are tried.
func faults() []Fault {
	if testing.Short() {
		return []Fault{Unknown, Stopped}
	}
	return Faults
}

func failingStore(t *testing.T, binary string, store Store) {
	s := stores.Containers(t)
	proxy := NewProxy(t, s, store)
	c := New(t, binary, s, 3*time.Second)
	c.Env = []string{"TOMBSTONE_REQUEST_TIMEOUT=4s"} // the client waits for 15 s
	dep := c.Start(Dependency, Through(t, s, store, proxy.Address))
	asset := c.Start(Asset, Through(t, s, store, proxy.Address))
	c.AwaitReady()
	l := newLoad(c)
	victims := map[Fault][]dependency.Asset{}
	for _, f := range faults() {
		for i := range outageAssets {
			victims[f] = append(victims[f], filled(t, l, fmt.Sprintf("%s-%d", f, i)))
		}
	}
	filled(t, l, "bystander")
	before := map[*Process]vitals{dep: dep.vitals(t), asset: asset.vitals(t)}
	for _, f := range faults() {
		t.Run(string(f), func(t *testing.T) { failing(t, l, proxy, f, victims[f], before) })
	}
	c.AwaitReady()
	for p, b := range before {
		Eventually(t, "goroutines of "+p.Name, func() error {
			if now := p.vitals(t).goroutines; now > b.goroutines+spareGoroutines {
				return fmt.Errorf("%d, and %d before the faults", now, b.goroutines)
			}
			return nil
		})
	}
	invariants.Check(t, invariants.World{API: dep.Client, URL: dep.URL, Stores: s}, l.known())
}

// failing is one fault: deletions are accepted meanwhile, or refused where there is no graph, and in the end they are done.
func failing(t *testing.T, l *load, proxy *Proxy, f Fault, victims []dependency.Asset, before map[*Process]vitals) {
	dep := l.c.With(Dependency)[0]
	began, vitalsThen := time.Now(), map[*Process]vitals{}
	for p := range before {
		vitalsThen[p] = p.vitals(t)
	}
	mend := proxy.Break(t, f)
	over := time.After(outageTime)
	if proxy.store == Graph && f != Slow {
		refusedSoon(t, dep, victims[0], f, over)
	} else {
		accept(t, l, victims)
		<-over
	}
	for p, then := range vitalsThen {
		p.calm(t, then, p.vitals(t), before[p], time.Since(began))
	}
	mend()
	deleteAll(t, l, victims) // again, where they were accepted
	for _, a := range victims {
		if err := l.await(t.Context(), l.deletionOf(a.ID), []dependency.Asset{a}); err != nil {
			t.Fatal(err)
		}
	}
}

// filled makes a mesh with everything in it.
func filled(t *testing.T, l *load, id string) dependency.Asset {
	t.Helper()
	a, err := l.create(t.Context(), "mesh", id)
	if err == nil {
		err = l.fill(t.Context(), a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// accept wants each deletion to be accepted at once: the graph is enough.
func accept(t *testing.T, l *load, assets []dependency.Asset) {
	t.Helper()
	for _, a := range assets {
		d, err := l.c.With(Dependency)[0].Delete(t.Context(), a.ID, dependency.DeleteRequest{})
		if err != nil {
			t.Fatalf("delete %s: %v", a.ID, err)
		}
		l.accepted(d, a)
	}
}

// refusedSoon asks without a pause until the time is over, and wants requests to be answered with 503, and not with
// silence, while there is no graph. Some may be answered well: short ones where answers are cut, and reads where only the
// ends of changes get lost.
func refusedSoon(t *testing.T, dep *Process, a dependency.Asset, fault Fault, over <-chan time.Time) {
	t.Helper()
	ctx := t.Context()
	requests := map[string]func() error{
		"read":   func() error { _, err := dep.Asset(ctx, a.ID); return err },
		"create": func() error { _, _, err := dep.PutAsset(ctx, "new", dependency.Put{Kind: "bare"}); return err },
		"delete": func() error { _, err := dep.Delete(ctx, a.ID, dependency.DeleteRequest{}); return err },
		"list":   func() error { _, err := dep.Assets(ctx, dependency.AssetQuery{}); return err },
	}
	ended := make(chan struct{})
	go func() { <-over; close(ended) }()
	var clients sync.WaitGroup
	for range outageClients {
		clients.Go(func() {
			for first := true; first || !isClosed(ended); first = false {
				for what, f := range requests {
					err := f()
					if err == nil && (fault == Cut || fault == Unknown) {
						continue
					}
					if problem.As(err) == nil || problem.As(err).Name != problem.Unavailable {
						t.Errorf("%s without a graph: %v, want the refusal %s", what, err, problem.Unavailable)
					}
				}
			}
		})
	}
	clients.Wait()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
