package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// crashFile in the environment makes the test binary the process that TestKill kills, writing this file.
const crashFile = "TOMBSTONE_SQLITE_CRASH_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		fmt.Println(writeForEver(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForEver entombs assets until the process is killed, and prints each after its commit. It returns the first error.
func writeForEver(path string) error {
	ctx := context.Background()
	g, err := Open(path)
	if err != nil {
		return err
	}
	if err := g.Prepare(ctx); err != nil {
		return err
	}
	results := make(chan error)
	for writer := range 4 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d", writer, i)
				if err := g.Update(ctx, func(tx dependency.Tx) error { return entomb(ctx, tx, id) }); err != nil {
					results <- err
				}
				if _, err := fmt.Println("acknowledged", id); err != nil {
					results <- err
				}
			}
		}()
	}
	return <-results
}

// entomb writes what one accepted deletion writes.
func entomb(ctx context.Context, tx dependency.Tx, ids ...string) error {
	var nodes []dependency.Node
	var deletions []dependency.DeletionRecord
	var erasures []dependency.Erasure
	var commands []dependency.Command
	var entries []dependency.Entry
	for _, id := range ids {
		nodes = append(nodes, dependency.Node{ID: id, Kind: "mesh", Owner: "o", Status: dependency.Deleting, Deletion: "d-" + id})
		deletions = append(deletions, dependency.DeletionRecord{ID: "d-" + id, Root: id, Owner: "o", Status: dependency.Deleting})
		erasures = append(erasures, dependency.Erasure{Deletion: "d-" + id, Asset: id, Steps: []dependency.Step{{Part: "payload", Status: dependency.StepWaiting}}})
		commands = append(commands, dependency.Command{ID: "c-" + id, Deletion: "d-" + id, Asset: id})
		entries = append(entries, dependency.Entry{ID: "e-" + id, Asset: id, Sequence: 1})
	}
	for _, step := range []func() error{
		func() error { return tx.SaveNodes(ctx, nodes) },
		func() error { return tx.SaveDeletions(ctx, deletions) },
		func() error { return tx.SaveErasures(ctx, erasures) },
		func() error { return tx.SaveCommands(ctx, commands) },
		func() error { return tx.Append(ctx, entries) },
		func() error { return tx.AddUsage(ctx, map[string]dependency.Usage{"o": {Pending: int64(len(ids))}}) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// TestKill kills a writing process three times on one file: what it had acknowledged is there, all of it, and of what it
// had not, all or nothing.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	for _, after := range []int{1, 50, 300} {
		t.Run(fmt.Sprintf("after %d commits", after), func(t *testing.T) {
			acknowledged := writeAndKill(t, path, after)
			g := open(t, path)
			checkWhole(t, g, acknowledged)
			for _, table := range []string{"usage", "commands", "entries", "erasures", "deletions", "nodes"} { // an empty graph for the next
				if _, err := g.db.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
					t.Fatal(err)
				}
			}
			closeGraph(t, g)
		})
	}
}

// writeAndKill lets a child write until it has acknowledged so many assets, kills it, and gives all that it acknowledged.
func writeAndKill(t *testing.T, path string, after int) (acknowledged []string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crashFile+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var id string
		if n, _ := fmt.Sscanf(lines.Text(), "acknowledged %s", &id); n == 1 {
			acknowledged = append(acknowledged, id)
		}
		if len(acknowledged) == after {
			if err := child.Process.Kill(); err != nil { // lines go on until the pipe is empty
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); len(acknowledged) < after {
		t.Fatalf("the child ended by itself after %d commits: %v", len(acknowledged), err)
	}
	return acknowledged
}

func checkWhole(t *testing.T, g *Graph, acknowledged []string) {
	t.Helper()
	var verdict string
	if err := g.db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s, %v", verdict, err)
	}
	err := g.View(t.Context(), func(tx dependency.Tx) error {
		found, err := tx.Nodes(t.Context(), acknowledged)
		if len(found) != len(acknowledged) {
			t.Errorf("%d of %d acknowledged assets are there", len(found), len(acknowledged))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := count(t, g, "nodes")
	t.Logf("%d acknowledged, %d there", len(acknowledged), want)
	for _, table := range []string{"deletions", "erasures", "commands", "entries"} {
		if got := count(t, g, table); got != want {
			t.Errorf("%d nodes, but %d %s", want, got, table)
		}
	}
	var pending int
	if err := g.db.QueryRowContext(t.Context(), "SELECT pending FROM usage").Scan(&pending); err != nil || pending != want {
		t.Errorf("%d nodes, but %d counted (%v)", want, pending, err)
	}
}
