package sweeping

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

const seed = 7

func open(t testing.TB, file string) dependency.Graph {
	t.Helper()
	g, err := sqlite.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close(context.Background()) })
	return g
}

// service is the dependency service on a graph, with the asset service's eyes on a forest.
func service(t testing.TB, g dependency.Graph, f *forest) *dependency.Service {
	t.Helper()
	p, err := policy.Parse("sweeping.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	eyes := asset.NewInspector(asset.Config{Policy: p, Documents: documents{forest: f}, Blobs: blobs{forest: f}})
	s, err := dependency.New(dependency.Config{Graph: g, Policy: p, Stores: eyes, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// fill writes the forest's assets into the graph.
func fill(t testing.TB, g dependency.Graph, f *forest) {
	t.Helper()
	service(t, g, f) // prepares it
	const page = 1000
	for from := 0; from < f.assets; from += page {
		err := g.Update(t.Context(), func(tx dependency.Tx) error {
			var nodes []dependency.Node
			for n := from; n < min(f.assets, from+page); n++ {
				nodes = append(nodes, dependency.Node{ID: assetID(n), Kind: "scan", Owner: owner, Generation: generationAt(n, 1), Status: dependency.Live,
					Attributes: map[string]any{"state": "done", "note": strings.Repeat("x", 200)}, CreatedAt: now, UpdatedAt: now})
			}
			return tx.SaveNodes(t.Context(), nodes)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sweep is a sweep with apply and all that it does in the background; it gives the places whose deletion has begun.
func sweep(t testing.TB, g dependency.Graph, f *forest) (removed map[string]bool) {
	t.Helper()
	s := service(t, g, f)
	operator := dependency.WithCaller(t.Context(), dependency.Caller{Subject: "olga", Operator: true})
	found, err := s.Sweep(operator, true)
	if err != nil || found.Total != len(f.places()) || !found.Applied {
		t.Fatalf("found %d of %d, applied %t, %v", found.Total, len(f.places()), found.Applied, err)
	}
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	removed = map[string]bool{}
	for cursor := ""; ; {
		page, err := s.Deletions(operator, dependency.DeletionQuery{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Items {
			place := fmt.Sprintf("%s %s %s", d.Root, d.Parts[0], d.Steps[0].Generation)
			if removed[place] {
				t.Errorf("%s is removed twice", place)
			}
			removed[place] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			return removed
		}
	}
}

func TestTheSweepFindsAllOrphansAndNothingElse(t *testing.T) {
	objects := 10_000
	if testing.Short() {
		objects = 4_000
	}
	f := newForest(objects, seed)
	g := open(t, filepath.Join(t.TempDir(), "graph.db"))
	fill(t, g, f)
	if diff := cmp.Diff(f.places(), sweep(t, g, f)); diff != "" || len(f.places()) != objects/1000 {
		t.Errorf("%d orphans; of them and of what was removed differ (seed %d):\n%s", len(f.places()), seed, diff)
	}
}

// What the processes of the benchmark are told: the graph's file and the number of objects.
const envFile, envObjects = "TOMBSTONE_SWEEP_GRAPH", "TOMBSTONE_SWEEP_OBJECTS"

// TestSweepInAProcessOfItsOwn is what the benchmark runs.
func TestSweepInAProcessOfItsOwn(t *testing.T) {
	objects, err := strconv.Atoi(os.Getenv(envObjects))
	if err != nil {
		t.Skip("the benchmark runs it")
	}
	f := newForest(objects, seed)
	if diff := cmp.Diff(f.places(), sweep(t, open(t, os.Getenv(envFile)), f)); diff != "" {
		t.Errorf("what there is and what was removed (seed %d):\n%s", seed, diff)
	}
	fmt.Printf("\npeak-kB %s\n", peak(t))
}

// peak is the peak of this process's resident memory, in kB.
func peak(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	if err != nil || !found {
		t.Skip("the system does not tell")
	}
	return strings.Fields(rest)[0]
}

// BenchmarkSweep tells how long a sweep takes that counts and removes, and the peak of the memory of a process that does
// nothing else.
func BenchmarkSweep(b *testing.B) {
	for _, objects := range []int{10_000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(objects), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				file := filepath.Join(b.TempDir(), "graph.db")
				f := newForest(objects, seed)
				g := open(b, file)
				fill(b, g, f)
				if err := g.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				child := exec.Command(os.Args[0], "-test.run=^TestSweepInAProcessOfItsOwn$", "-test.v")
				child.Env = append(os.Environ(), envFile+"="+file, envObjects+"="+strconv.Itoa(objects))
				out, err := child.CombinedOutput()
				b.StopTimer()
				_, rest, found := strings.Cut(string(out), "\npeak-kB ")
				if err != nil || !found {
					b.Fatalf("%v\n%s", err, out)
				}
				kB, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(kB/1000, "peak-MB")
				b.ReportMetric(float64(f.assets), "documents")
				b.ReportMetric(float64(len(f.places())), "orphans")
			}
		})
	}
}
