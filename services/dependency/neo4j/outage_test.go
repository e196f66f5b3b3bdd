package neo4j_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/test/containers"
)

func TestAServerThatIsAwayIsToldOfAndComesBack(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	a, server := containers.OwnNeo4j(t)
	g := open(t, connect(a))
	save := func(ctx context.Context, id string) error {
		return g.Update(ctx, func(tx dependency.Tx) error {
			return tx.SaveNodes(ctx, []dependency.Node{{ID: id, Status: dependency.Live, Generation: newID()}})
		})
	}
	exists := func(id string) bool {
		t.Helper()
		ctx, found := deadline(t), map[string]dependency.Node{}
		err := g.View(ctx, func(tx dependency.Tx) (err error) {
			found, err = tx.Nodes(ctx, []string{id})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(found) > 0
	}
	if err := save(deadline(t), "before"); err != nil {
		t.Fatal(err)
	}

	server.Kill(t)
	ctx := deadline(t)
	if err := save(ctx, "never"); !errors.Is(err, problem.Unavailable) || ctx.Err() != nil {
		t.Errorf("update while the server is away: %v; want unavailable long before the deadline, which is %v", err, ctx.Err())
	}
	if err := g.Ping(ctx); !errors.Is(err, problem.Unavailable) || ctx.Err() != nil {
		t.Errorf("ping while the server is away: %v", err)
	}
	server.Start(t)
	if err := save(deadline(t), "after the kill"); err != nil {
		t.Errorf("update after the start: %v", err)
	}
	if !exists("before") || exists("never") || !exists("after the kill") {
		t.Error("the graph does not hold what was committed")
	}

	server.Pause(t)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := save(short, "never"); !errors.Is(err, problem.Unavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("update while the server does not answer: %v", err)
	}
	server.Unpause(t)
	if err := save(deadline(t), "after the pause"); err != nil {
		t.Errorf("update after the pause: %v", err)
	}

	if err := g.Close(deadline(t)); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, leaks)
}

func TestAServerThatWasNeverThereStopsNothingButTheCalls(t *testing.T) {
	g, err := neo4j.Open(t.Context(), connect(containers.Neo4jAddr{URI: "neo4j://127.0.0.1:1"}))
	if err != nil {
		t.Fatal(err)
	}
	ctx := deadline(t)
	defer func() { _ = g.Close(ctx) }()
	for name, call := range map[string]func() error{
		"update":  func() error { return g.Update(ctx, func(dependency.Tx) error { return nil }) },
		"view":    func() error { return g.View(ctx, func(dependency.Tx) error { return nil }) },
		"ping":    func() error { return g.Ping(ctx) },
		"prepare": func() error { return g.Prepare(ctx) },
	} {
		if err := call(); !errors.Is(err, problem.Unavailable) || ctx.Err() != nil {
			t.Errorf("%s: %v; want unavailable long before the deadline", name, err)
		}
	}
}

func TestAWrongPasswordIsNotAnOutage(t *testing.T) {
	c := config(t)
	c.Password = "wrong"
	g, err := neo4j.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close(t.Context()) }()
	if err := g.Ping(deadline(t)); err == nil || errors.Is(err, problem.Unavailable) {
		t.Errorf("ping: %v", err)
	}
}
