package cluster

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/containers"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// wipedBroker ends the broker while it alone knows of many commands, and starts it empty. Resending is set so rare that
// only noticing the loss helps.
func wipedBroker(t *testing.T, binary string) {
	t.Run("the dependency service makes the streams anew", func(t *testing.T) { wiped(t, binary, Asset) })
	if testing.Short() {
		return
	}
	t.Run("the asset service makes the streams anew", func(t *testing.T) { wiped(t, binary, Dependency) })
}

// wiped freezes the processes of one role while the broker is lost, so that the other meets the empty one first.
func wiped(t *testing.T, binary string, late Role) {
	const sent, unsent = 200, 60
	s := stores.Containers(t)
	url, broker := containers.OwnNATS(t)
	s.NATS = url
	c := New(t, binary, s, time.Hour)
	for range 2 {
		c.Start(Dependency, s)
		c.Start(Asset, s)
	}
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "bystander")
	finishBefore(t, l)
	inFlight := importMany(t, l, "sent", sent)
	for i := range 10 {
		inFlight = append(inFlight, filled(t, l, fmt.Sprintf("sent-full-%d", i)))
	}
	whileAway := importMany(t, l, "unsent", unsent)

	frozen(c.With(Asset), true)
	deleteAll(t, l, inFlight)
	Eventually(t, "all commands are with the broker", func() error {
		p, err := c.With(Dependency)[0].Pending(t.Context(), "")
		if err == nil && len(p.Items) > 0 {
			err = fmt.Errorf("%d flags or more", len(p.Items))
		}
		return err
	})
	broker.Kill(t)
	deleteAll(t, l, whileAway)
	frozen(c.With(Asset), late == Asset)
	frozen(c.With(Dependency), late == Dependency)
	broker.Renew(t)
	Eventually(t, "the others are ready", func() error {
		for _, p := range c.processes {
			if p.role == late {
				continue
			}
			if r, err := p.Ready(t.Context()); err != nil || !r.Ready {
				return fmt.Errorf("%s: %+v, %w", p.Name, r, err)
			}
		}
		return nil
	})
	frozen(c.With(late), false)

	for _, a := range append(inFlight, whileAway...) {
		if err := l.await(t.Context(), l.deletionOf(a.ID), nil); err != nil {
			t.Fatal(err)
		}
	}
	api := c.With(Dependency)[0]
	invariants.Check(t, invariants.World{API: api.Client, URL: api.URL, Stores: s}, l.known())
}

// finishBefore has some deletions done, so that the feed has a past.
func finishBefore(t *testing.T, l *load) {
	t.Helper()
	for i := range 5 {
		a := filled(t, l, fmt.Sprintf("before-%d", i))
		d, err := l.delete(t.Context(), []dependency.Asset{a}, dependency.DeleteRequest{})
		if err == nil {
			err = l.await(t.Context(), d.ID, []dependency.Asset{a})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// importMany makes assets with nothing in them.
func importMany(t *testing.T, l *load, prefix string, n int) (list []dependency.Asset) {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		id := fmt.Sprintf("%s-%d", prefix, i)
		fmt.Fprintf(&lines, "{\"id\": %q, \"kind\": \"mesh\", \"owner\": %q, \"bytes\": 10}\n", id, owners[i%len(owners)])
		list = append(list, dependency.Asset{ID: id})
	}
	r, err := l.c.With(Dependency)[0].ImportAssets(t.Context(), strings.NewReader(lines.String()))
	if err != nil || r.Created != n {
		t.Fatalf("import: %+v, %v", r, err)
	}
	return list
}

// deleteAll wants every deletion to be accepted, some at a time.
func deleteAll(t *testing.T, l *load, assets []dependency.Asset) {
	t.Helper()
	next := make(chan dependency.Asset)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for a := range next {
				if _, err := l.delete(t.Context(), []dependency.Asset{a}, dependency.DeleteRequest{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, a := range assets {
		next <- a
	}
	close(next)
	clients.Wait()
}

func frozen(list []*Process, yes bool) {
	for _, p := range list {
		if yes {
			p.Freeze()
		} else {
			p.Thaw()
		}
	}
}
