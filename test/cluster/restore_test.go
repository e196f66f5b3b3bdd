package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/stores"
)

// olderGraph loses the graph and puts a backup in its place that is older than the stores, the way docs/operations.md says:
// the services start paused, and what the backup takes for under way is looked at before they go on. Nothing that any
// generation holds by then may be erased. The graph is a file, so that a backup is a copy.
func olderGraph(t *testing.T, binary string) {
	t.Run("and the ledger is as it was", func(t *testing.T) { restored(t, binary, false) })
	t.Run("and the ledger is restored, too", func(t *testing.T) { restored(t, binary, true) })
}

func restored(t *testing.T, binary string, ledgerToo bool) {
	s := stores.Containers(t)
	file := filepath.Join(t.TempDir(), "graph.db")
	s.GraphURI = "sqlite://" + file
	c := New(t, binary, s, 2*time.Second)
	dep, worker := c.Start(Dependency, s), c.Start(Asset, s)
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "stays")
	lives(t, l, "lives-again")
	gone, phoenix, underway, late := filled(t, l, "gone"), filled(t, l, "phoenix"), filled(t, l, "underway"), filled(t, l, "late")
	worker.Stop()
	deleteAll(t, l, []dependency.Asset{underway})
	dep.Stop()
	backup := readFiles(t, file)
	ledger, err := s.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	dep.Restart()
	worker.Restart()
	deleteAll(t, l, []dependency.Asset{gone, phoenix})
	awaitAll(t, l, []dependency.Asset{underway, gone, phoenix})
	filled(t, l, "phoenix")
	filled(t, l, "underway")
	filled(t, l, "newcomer")
	worker.Stop()
	deleteAll(t, l, []dependency.Asset{late}) // its command waits with the broker
	dep.Kill()

	writeFiles(t, file, backup)
	if ledgerToo {
		if err := s.SetLedger(t.Context(), ledger); err != nil {
			t.Fatal(err)
		}
	}
	before := s.Snapshot(t)
	c.Env = []string{"TOMBSTONE_START_PAUSED=true"}
	api := c.Start(Dependency, s)
	worker.Restart()
	open := awaitPaused(t, api)
	if ledgerToo {
		for _, d := range open { // what no generation and no ledger keeps
			if _, err := api.Force(t.Context(), d, dependency.Force{Part: "thumbnail", Reason: "the graph was restored"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := api.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitDone(t, api, open)
	awaitQuiet(t, s)
	if diff := cmp.Diff(before, s.Snapshot(t)); diff != "" {
		t.Errorf("G2/G7: after the restored graph went on, the stores hold (-before +after):\n%s", diff)
	}
	for _, id := range []string{"stays", "lives-again", "late"} {
		if _, err := worker.GetDocument(t.Context(), id, "description"); err != nil {
			t.Errorf("%s, which the restored graph takes for live: %v", id, err)
		}
	}
}

// awaitPaused waits until the service is ready, and gives the deletions that the graph takes for under way. They must wait
// for the resuming, whatever is asked.
func awaitPaused(t *testing.T, api *Process) (open []string) {
	t.Helper()
	Eventually(t, "the service on the restored graph is ready", func() error {
		r, err := api.Ready(t.Context())
		if err == nil && !r.Ready {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
	p, err := api.Deletions(t.Context(), dependency.DeletionQuery{Status: dependency.Deleting})
	if err != nil || len(p.Items) == 0 {
		t.Fatalf("deletions under way: %+v, %v", p, err)
	}
	if _, err := api.Retry(t.Context(), dependency.Drive{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Items {
		open = append(open, d.ID)
		if e, err := api.Explain(t.Context(), d.ID); err != nil || !e.Paused {
			t.Errorf("deletion %s does not wait for the resuming: %+v, %v", d.ID, e, err)
		}
	}
	return open
}

func awaitDone(t *testing.T, api *Process, deletions []string) {
	t.Helper()
	for _, id := range deletions {
		Eventually(t, "deletion "+id, func() error {
			d, err := api.Deletion(t.Context(), id, "")
			if err == nil && d.Status != dependency.Deleted {
				err = fmt.Errorf("%+v", d)
			}
			return err
		})
	}
}

// readFiles is the backup of a database that nobody uses: its file, and those beside it.
func readFiles(t *testing.T, path string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// writeFiles puts it in the place of what is there.
func writeFiles(t *testing.T, path string, files map[string][]byte) {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
