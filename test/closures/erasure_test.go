package closures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

// What the processes that erase an owner are told: where the graph is, the names in it, the batch, and with which command to end (0: none).
const envGraph, envUser, envPassword, envLabel, envBatch, envKill = "TOMBSTONE_ERASURE_GRAPH", "TOMBSTONE_ERASURE_USER", "TOMBSTONE_ERASURE_PASSWORD",
	"TOMBSTONE_ERASURE_LABEL", "TOMBSTONE_ERASURE_BATCH", "TOMBSTONE_ERASURE_KILL"

func TestAnOwnerIsErasedThroughKillsOnSQLite(t *testing.T) {
	count := 2000
	if fullSize {
		count = 100_000
	}
	file := t.TempDir() + "/graph.db"
	open := func() (dependency.Graph, error) { return sqlite.Open(file) }
	eraseOwner(t, open, count, []string{envGraph + "=" + file})
}

func TestAnOwnerIsErasedThroughKillsOnNeo4j(t *testing.T) {
	count := 1000
	if fullSize {
		count = 10_000
	}
	c := neo4jConfig(t)
	open := func() (dependency.Graph, error) { return neo4j.Open(t.Context(), c) }
	eraseOwner(t, open, count, []string{envGraph + "=" + c.URI, envUser + "=" + c.User, envPassword + "=" + c.Password, envLabel + "=" + c.Names.Label})
}

// eraseOwner asks for the erasure of an owner, whose assets are trees of parts that mention those of another owner and are
// mentioned by them. Two processes are killed with commands and reports in hand; a third one comes to the end.
func eraseOwner(t *testing.T, open func() (dependency.Graph, error), count int, env []string) {
	g, err := open()
	if err != nil {
		t.Fatal(err)
	}
	s, ctx := serviceOn(t, g)
	mine := growFor(t, g, "leaving", "thing", count, func(ids []string, i int) dependency.Link {
		return dependency.Link{From: ids[i], Type: "PART_OF", To: ids[(i-1)/10]}
	})
	theirs := growFor(t, g, "acme", "thing", 10, func(ids []string, i int) dependency.Link {
		return dependency.Link{From: ids[i], Type: "REFERENCES", To: mine[i]}
	})
	batch, err := s.DeleteOwner(ctx, dependency.OwnerRequest{Owner: "leaving", Reason: "right to erasure"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(ctx); err != nil {
		t.Fatal(err)
	}
	env = append(env, envBatch+"="+batch)
	begun := time.Now()
	eraseUntil(t, env, count/10)
	eraseUntil(t, env, count/3)
	memory := eraseUntil(t, env, 0)
	t.Logf("%d assets: erased in %v, of which two processes were killed; peak memory of the last %s", count, time.Since(begun).Round(time.Second), memory)

	if g, err = open(); err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.WithoutCancel(ctx))
	s, ctx = serviceOn(t, g)
	b, err := s.Batch(ctx, batch, "")
	if err != nil || b.Status != dependency.Deleted || b.Accepted != count || b.Deleted != count || b.RefusedTotal != 0 {
		t.Errorf("at the end: %+v, %v", b, err)
	}
	if u, err := s.Usage(ctx, "leaving"); err != nil || u.Assets != 0 || u.Pending != 0 {
		t.Errorf("usage at the end: %+v, %v", u, err)
	}
	for _, status := range []dependency.Status{dependency.Live, dependency.Deleting} {
		if left, err := s.Assets(ctx, dependency.AssetQuery{Owner: "leaving", Status: status}); err != nil || len(left.Items) > 0 {
			t.Errorf("%d assets are %s, %v", len(left.Items), status, err)
		}
	}
	for _, id := range []string{mine[0], mine[count/2], mine[count-1]} { // each went once
		trail, err := s.Audit(ctx, id, "")
		if err != nil || len(trail.Items) != 3 {
			t.Errorf("trail of %s: %+v, %v", id, trail.Items, err)
		}
	}
	for _, id := range theirs {
		if a, err := s.Asset(ctx, id); err != nil || a.Status != dependency.Live || len(a.Links) > 0 {
			t.Errorf("of the other owner: %+v, %v", a, err)
		}
	}
	if v, err := s.Verify(ctx, dependency.VerifyRequest{}); err != nil || v.Total > 0 {
		t.Errorf("verified: %+v, %v", v, err)
	}
}

// eraseUntil runs a process that erases, and kills itself when it meets so many commands; with 0 it comes to its end. It gives
// the peak of the process's memory.
func eraseUntil(t *testing.T, env []string, commands int) (memory string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestErasureInAProcessOfItsOwn$", "-test.v", "-test.timeout=30m")
	child.Env = append(os.Environ(), append(env, envKill+"="+strconv.Itoa(commands))...)
	child.Stderr = os.Stderr
	out, err := child.Output()
	var ended *exec.ExitError
	killed := errors.As(err, &ended) && ended.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if killed != (commands > 0) || !killed && err != nil {
		t.Fatalf("killed: %t, ended with %v\n%s", killed, err, out)
	}
	_, memory, _ = strings.Cut(string(out), "\npeak ")
	memory, _, _ = strings.Cut(memory, "\n")
	return memory
}

// TestErasureInAProcessOfItsOwn is a dependency service of which nothing runs but what an erasure needs, with an asset service
// that finds everything gone at once.
func TestErasureInAProcessOfItsOwn(t *testing.T) {
	batch := os.Getenv(envBatch)
	if batch == "" {
		t.Skip("the tests of owners run it")
	}
	g := graphOfParent(t)
	var commands, feed *saga.Relay
	s, err := dependency.New(dependency.Config{Graph: g, Policy: parse(t), Stores: nowhere{}, ClaimFor: time.Second,
		SendCommands: func(f []saga.Flag) { commands.Send(f) }, SendEvents: func(f []saga.Flag) { feed.Send(f) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(dependency.WithCaller(t.Context(), dependency.Caller{Subject: "test", Operator: true}))
	defer stop()
	kill, err := strconv.ParseInt(os.Getenv(envKill), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	commands = saga.NewRelay(saga.RelayConfig{Name: "commands", Outbox: s.Commands(), Publisher: &erased{Service: s, kill: kill}, Page: 100, Timeout: 5 * time.Second, Hold: 6 * time.Second})
	feed = saga.NewRelay(saga.RelayConfig{Name: "feed", Outbox: s.Feed(), Publisher: taken{}})
	parts, ctx := errgroup.WithContext(ctx)
	for _, run := range []func(context.Context) error{commands.Run, feed.Run, s.RunSent, s.RunBatches} {
		parts.Go(func() error { return run(ctx) })
	}
	parts.Go(func() error {
		defer stop()
		return follow(ctx, s, batch)
	})
	if err := parts.Wait(); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\npeak %s\n", peak())
}

// graphOfParent is the graph that the process was told of.
func graphOfParent(t *testing.T) (g dependency.Graph) {
	t.Helper()
	p := parse(t)
	var err error
	if where := os.Getenv(envGraph); strings.HasPrefix(where, "bolt:") {
		p.Graph.Label = os.Getenv(envLabel)
		g, err = neo4j.Open(t.Context(), neo4j.Config{URI: where, User: os.Getenv(envUser), Password: os.Getenv(envPassword), Names: p.Graph, Links: p.Links})
	} else {
		g, err = sqlite.Open(where)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(context.Background()) })
	return g
}

// follow waits until a batch is done.
func follow(ctx context.Context, s *dependency.Service, batch string) error {
	for {
		begun := time.Now()
		b, err := s.Batch(ctx, batch, "")
		if err != nil || b.Status == dependency.Deleted {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(50*time.Millisecond, 3*time.Since(begun))): // so that asking takes a quarter of the time at most
		}
	}
}

// taken is a bus that takes everything.
type taken struct{}

func (taken) Publish(_ context.Context, messages []saga.Message) []error {
	return make([]error, len(messages))
}

func (taken) Purge(context.Context, []string) error { return nil }

// erased is a bus to an asset service that reports at once, in a process that kills itself when it meets so many commands.
type erased struct {
	*dependency.Service
	kill int64 // 0: never
	met  atomic.Int64
}

func (e *erased) Publish(ctx context.Context, messages []saga.Message) []error {
	errs := make([]error, len(messages))
	var all errgroup.Group
	all.SetLimit(reportsInHand)
	for i, m := range messages {
		all.Go(func() error { errs[i] = e.report(ctx, i, m); return nil })
	}
	_ = all.Wait() // each message has its own
	return errs
}

func (e *erased) report(ctx context.Context, i int, m saga.Message) error {
	if e.met.Add(1) == e.kill {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	_, erase, err := events.DecodeCommand(m.Data)
	if err != nil {
		return err
	}
	data, err := events.Encode(events.Envelope{ID: strconv.Itoa(i), Source: "/test", Type: events.TypeAssetErased, Time: time.Now().UTC()},
		events.AssetErased{Deletion: erase.Deletion, Asset: erase.Asset, Generation: erase.Generation, Parts: []events.PartEvidence{}})
	if err != nil {
		return err
	}
	return e.HandleReport(ctx, saga.Message{Data: data}, 1)
}

func (e *erased) Purge(context.Context, []string) error { return nil }
