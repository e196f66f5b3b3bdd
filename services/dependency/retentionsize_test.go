package dependency_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

// fillChecks creates so many assets with a part that has expired at a later time, which it gives, with attributes of a
// usual size.
func fillChecks(t testing.TB, g dependency.Graph, count int) (later time.Time) {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s, err := dependency.New(dependency.Config{Graph: g, Policy: parse(t, partsExpire), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	in, out := io.Pipe()
	go func() {
		for i := range count {
			fmt.Fprintf(out, `{"id": "check-%07d", "kind": "check", "attributes": {"state": "done", "note": %q}}`+"\n", i, strings.Repeat("x", 500))
		}
		out.Close()
	}()
	got, err := s.ImportAssets(operatorOf(t.Context()), in)
	if err != nil || got.Created != count {
		t.Fatalf("import: %+v, %v", got, err)
	}
	return now.Add(8 * day)
}

func operatorOf(ctx context.Context) context.Context {
	return dependency.WithCaller(ctx, dependency.Caller{Subject: "olga", Owner: "acme", Operator: true})
}

// runAll is a run by hand over everything, with what it keeps in memory at its largest, garbage apart.
func runAll(t testing.TB, g dependency.Graph, now time.Time, count int) (most uint64) {
	t.Helper()
	watched := &interrupted{Graph: g}
	s, err := dependency.New(dependency.Config{Graph: watched, Policy: parse(t, partsExpire), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	base := heap()
	transactions := 0
	watched.before = func() error {
		if transactions++; transactions%100 == 1 {
			now := heap()
			most = max(most, now-min(base, now))
		}
		return nil
	}
	found, err := s.Retention(operatorOf(t.Context()), true)
	if err != nil || found.Total != count || len(found.Candidates) != 1000 {
		t.Fatalf("%d of %d expired, %v", found.Total, count, err)
	}
	if err := s.Retain(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if found, err = s.Retention(operatorOf(t.Context()), false); err != nil || found.Total != 0 {
		t.Fatalf("%d are left, %v", found.Total, err)
	}
	return most
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// H-73, H-54: a run comes to its end however much has expired, and holds no more than a page of it.
func TestRetentionInBoundedMemory(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 2_000
	}
	g := openGraph(t)
	now := fillChecks(t, g, count)
	const bound = 32 << 20
	if most := runAll(t, g, now, count); most > bound {
		t.Errorf("a run over %d assets held %d MiB", count, most>>20)
	}
}

// BenchmarkRetention tells how long a run over 100,000 expired parts takes, and the peak of the process's memory.
func BenchmarkRetention(b *testing.B) {
	const count = 100_000
	for range b.N {
		b.StopTimer()
		g, err := sqlite.Open(b.TempDir() + "/graph.db")
		if err != nil {
			b.Fatal(err)
		}
		now := fillChecks(b, g, count)
		b.StartTimer()
		runAll(b, g, now, count)
		b.StopTimer()
		g.Close(context.Background())
	}
	b.ReportMetric(peakMB(b), "peak-MB")
}

// peakMB is the peak of the process's resident memory so far.
func peakMB(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("the system does not tell")
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kB, err := strconv.ParseFloat(strings.Fields(rest + " -")[0], 64)
	if err != nil {
		b.Skip("the system does not tell")
	}
	return kB / 1000
}
