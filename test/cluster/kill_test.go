package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// randomKills lets many clients create, link, delete and re-create assets while the processes of both services are killed
// and frozen, then waits until it is quiet, and checks everything. TOMBSTONE_SOAK is for how long it goes on; without it
// there is one round, of some 150 assets.
func randomKills(t *testing.T, binary string) {
	const families, kills = 38, 30
	seed := seed(t)
	s := stores.Containers(t)
	c := New(t, binary, s, 10*time.Second)
	for range 2 {
		c.Start(Dependency, s)
		c.Start(Asset, s)
	}
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "bystander-a")
	filled(t, l, "bystander-b")
	end := time.Now().Add(soak(t))
	for round := 0; round == 0 || time.Now().Before(end) && !t.Failed(); round++ {
		began := time.Now()
		killRound(t, l, fmt.Sprintf("r%d-", round), families, kills, rand.New(rand.NewPCG(seed, uint64(round))))
		api := c.With(Dependency)[0]
		invariants.Check(t, invariants.World{API: api.Client, URL: api.URL, Stores: s}, l.known())
		t.Logf("round %d took %s; %d deletions so far", round, time.Since(began).Round(time.Second), len(l.known().Deletions))
		// Everything is quiet, so nothing of the ledger is needed any more. The stand-in for MongoDB reads the whole collection
		// to find one record by its id, so that without this each round would be slower than the one before.
		if err := s.SetLedger(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// killRound is one load with its kills; afterwards every process runs and every deletion is done.
func killRound(t *testing.T, l *load, prefix string, families, kills int, random *rand.Rand) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := make(chan struct{}, 1000)
	l.done = func() {
		select {
		case calls <- struct{}{}:
		default:
		}
	}
	var clients, killer sync.WaitGroup
	for i := range families {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		clients.Go(func() {
			if err := l.family(ctx, fmt.Sprintf("%sf%d", prefix, i), own); err != nil {
				t.Error(err)
				cancel()
			}
		})
	}
	quiet := make(chan struct{})
	done := 0
	killer.Go(func() { done = disturb(l.c, calls, quiet, random) })
	clients.Wait()
	close(quiet)
	killer.Wait()
	t.Logf("%d kills", done)
	if done < kills && !t.Failed() {
		t.Errorf("only %d kills, want %d: the load is too small", done, kills)
	}
	l.c.AwaitReady()
}

// disturb kills or freezes a process every now and then, counted in answered calls, until it is quiet; then every process
// runs. It gives the number of kills.
func disturb(c *Cluster, calls, quiet <-chan struct{}, random *rand.Rand) (kills int) {
	var thawing sync.WaitGroup
	defer thawing.Wait()
	for {
		for range 10 + random.IntN(30) {
			select {
			case <-calls:
			case <-quiet:
				return kills
			}
		}
		victim := c.processes[random.IntN(len(c.processes))]
		if random.IntN(6) == 0 {
			victim.Freeze()
			thawing.Go(func() {
				rest(context.Background(), time.Second+time.Duration(random.Int64N(int64(4*time.Second))))
				victim.Thaw()
			})
			continue
		}
		victim.Kill()
		kills++
		victim.Restart()
	}
}

// seed is that of TOMBSTONE_SEED, or a new one, and is told.
func seed(t *testing.T) (seed uint64) {
	t.Helper()
	seed = rand.Uint64()
	if text := os.Getenv("TOMBSTONE_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("TOMBSTONE_SEED: %v", err)
		}
	}
	t.Logf("TOMBSTONE_SEED=%d", seed)
	return seed
}

func soak(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("TOMBSTONE_SOAK")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TOMBSTONE_SOAK: %v", err)
	}
	return d
}
