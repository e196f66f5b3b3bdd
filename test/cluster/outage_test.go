//go:build cluster

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
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
	// spareGoroutines is how many more goroutines a process may have afterwards: connections that were not open before.
	spareGoroutines = 40
)

// failingStores puts a proxy before each store in turn, and lets it fail in every way while deletions are asked for.
func failingStores(t *testing.T, binary string) {
	for _, store := range []Store{Graph, Broker, Documents, Blobs} {
		t.Run(string(store), func(t *testing.T) {
			failingStore(t, binary, store)
		})
	}
}

func failingStore(t *testing.T, binary string, store Store) {
	s := stores.Containers(t)
	proxy := NewProxy(t, Address(t, s, store))
	c := New(t, binary, s, 3*time.Second)
	c.Env = []string{"TOMBSTONE_REQUEST_TIMEOUT=4s"} // the client waits for 15 s
	dep := c.Start(Dependency, Through(t, s, store, proxy.Address))
	asset := c.Start(Asset, Through(t, s, store, proxy.Address))
	c.AwaitReady()
	l := newLoad(c)
	victims := map[Fault][]dependency.Asset{}
	for _, f := range Faults {
		for i := range outageAssets {
			victims[f] = append(victims[f], filled(t, l, fmt.Sprintf("%s-%d", f, i)))
		}
	}
	filled(t, l, "bystander")
	before := map[*Process]int{dep: goroutines(t, dep), asset: goroutines(t, asset)}
	for _, f := range Faults {
		t.Run(string(f), func(t *testing.T) {
			lines := map[*Process]int{dep: dep.lines(), asset: asset.lines()}
			mend := proxy.Break(t, f)
			over := time.After(outageTime)
			if store == Graph && f != Slow {
				refusedSoon(t, dep, victims[f][0], f)
			} else {
				accept(t, l, victims[f])
			}
			<-over
			for p, n := range lines {
				if n = p.lines() - n; n > outageLines {
					t.Errorf("%s logged %d lines, the last:\n%s", p.Name, n, p.Tail(5))
				}
			}
			mend()
			accept(t, l, victims[f]) // again, where they were accepted
			for _, a := range victims[f] {
				if err := l.await(t.Context(), l.deletionOf(a.ID), []dependency.Asset{a}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	c.AwaitReady()
	for p, n := range before {
		Eventually(t, "goroutines of "+p.Name, func() error {
			if now := goroutines(t, p); now > n+spareGoroutines {
				return fmt.Errorf("%d, and %d before the faults", now, n)
			}
			return nil
		})
	}
	invariants.Check(t, invariants.World{API: dep.Client, URL: dep.URL, Stores: s}, l.known())
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

// refusedSoon wants requests to be answered with 503, and not with silence, while there is no graph. Where answers are
// cut, a short one may come through.
func refusedSoon(t *testing.T, dep *Process, a dependency.Asset, fault Fault) {
	t.Helper()
	ctx := t.Context()
	for what, f := range map[string]func() error{
		"read":   func() error { _, err := dep.Asset(ctx, a.ID); return err },
		"create": func() error { _, _, err := dep.PutAsset(ctx, "new", dependency.Put{Kind: "bare"}); return err },
		"delete": func() error { _, err := dep.Delete(ctx, a.ID, dependency.DeleteRequest{}); return err },
		"list":   func() error { _, err := dep.Assets(ctx, dependency.AssetQuery{}); return err },
	} {
		err := f()
		if err == nil && fault == Cut {
			continue
		}
		if problem.As(err) == nil || problem.As(err).Name != problem.Unavailable {
			t.Errorf("%s without a graph: %v, want the refusal %s", what, err, problem.Unavailable)
		}
	}
}

func (p *Process) lines() int { return bytes.Count(p.Log(), []byte("\n")) }

// goroutines is what a process tells of itself.
func goroutines(t *testing.T, p *Process) (n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text.Bytes()) {
		if k, _ := fmt.Sscanf(string(line), "go_goroutines %d", &n); k == 1 {
			return n
		}
	}
	t.Fatalf("%s tells no number of goroutines", p.Name)
	return 0
}
