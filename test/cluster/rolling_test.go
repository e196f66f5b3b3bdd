package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// olderCommit is an earlier state of the program, the version from which it is upgraded here.
const olderCommit = "03432003403afef68db55d063c68152588c758b2"

// BuildOlder builds that state from the history of this checkout; it gives "" where the checkout has no such history.
func BuildOlder(t *testing.T) string {
	t.Helper()
	source := t.TempDir()
	extract := exec.Command("sh", "-c", `git -C ../.. archive "$1" | tar -x -C "$2"`, "sh", olderCommit, source)
	if exec.Command("git", "cat-file", "-e", olderCommit).Run() != nil {
		return ""
	}
	if out, err := extract.CombinedOutput(); err != nil {
		t.Fatalf("extract %s: %v\n%s", olderCommit, err, out)
	}
	path := filepath.Join(source, "tombstone-older")
	build := exec.Command("go", "build", "-tags", "nodev", "-buildvcs=false", "-o", path, "./cmd/tombstone")
	build.Dir, build.Env = source, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", olderCommit, err, out)
	}
	return path
}

// rollingRestarts runs two replicas of each service under load. Each is upgraded in its turn from an older version, so that
// both versions run side by side; then each is restarted once more. Resending is set so rare that it does not help.
func rollingRestarts(t *testing.T, binary string) {
	older := BuildOlder(t)
	if older == "" {
		t.Log("this checkout does not have the older version: restarts only")
		older = binary
	} else {
		t.Logf("upgraded from %s", olderCommit)
	}
	s := stores.Containers(t)
	c := New(t, older, s, time.Hour)
	// The older version knows no users of the broker, and no keys of messages: whoever upgrades brings them in afterwards.
	c.Env = []string{"TOMBSTONE_NATS_URL=" + s.NATS, "TOMBSTONE_MESSAGE_KEY="}
	for range 2 {
		c.Start(Dependency, s)
		c.Start(Asset, s)
	}
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "bystander")
	inFlight, families := importMany(t, l, "many", 160), 12
	if testing.Short() {
		families = 4
	}
	underLoad(t, l, families, func(ctx context.Context, calls <-chan struct{}) {
		for round := range 2 {
			for i, p := range c.processes {
				awaitCalls(ctx, calls, 30)
				some := len(inFlight) / (2 * len(c.processes))
				part := inFlight[(round*len(c.processes)+i)*some:]
				deleteAll(t, l, part[:some])
				p.Stop()
				p.binary = binary
				p.Restart()
				c.AwaitReady()
			}
		}
	})
	awaitAll(t, l, inFlight)
	api := c.With(Dependency)[0]
	invariants.Check(t, invariants.World{API: api.Client, URL: api.URL, Stores: s}, l.known())
}

// replicas deletes as much with two replicas of each service as with one, by turns, and tells the ratio: here all share one
// machine with their stores, so more is not to be had, and less is what sharing the work costs: batches of half the size,
// and listings that serve half as many neighbours.
func replicas(t *testing.T, binary string) {
	n, rounds := 300, 4
	if testing.Short() {
		n, rounds = 100, 2
	}
	s := stores.Containers(t)
	c := New(t, binary, s, time.Hour)
	for range 2 {
		c.Start(Dependency, s)
		c.Start(Asset, s)
	}
	both, second := c.processes, c.processes[2:]
	c.AwaitReady()
	l := newLoad(c)
	deleteAtOnce(t, l, "warm", n)
	var one, two time.Duration
	for round := range rounds {
		for _, p := range second {
			p.Stop()
		}
		c.processes = both[:2]
		one += deleteAtOnce(t, l, fmt.Sprintf("one-%d", round), n)
		for _, p := range second {
			p.Restart()
		}
		c.processes = both
		c.AwaitReady()
		deleteAtOnce(t, l, fmt.Sprintf("warm-%d", round), n/2) // their first calls open connections
		two += deleteAtOnce(t, l, fmt.Sprintf("two-%d", round), n)
	}
	per := func(d time.Duration) float64 { return float64(rounds*n) / d.Seconds() }
	t.Logf("deletions a second: %.1f by one replica of each service, %.1f by two, which is %.2f of one's", per(one), per(two), per(two)/per(one))
	if testing.Short() { // the test above has looked at everything
		return
	}
	api := c.With(Dependency)[0]
	invariants.Check(t, invariants.World{API: api.Client, URL: api.URL, Stores: s}, l.known())
}

// deleteAtOnce makes assets, and tells how long it takes from the first request for their deletions to the end of the last.
func deleteAtOnce(t *testing.T, l *load, prefix string, n int) time.Duration {
	t.Helper()
	assets := importMany(t, l, prefix, n)
	began := time.Now()
	deleteAll(t, l, assets)
	for _, a := range assets {
		if err := l.await(t.Context(), l.deletionOf(a.ID), nil); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", prefix, err))
		}
	}
	return time.Since(began)
}
