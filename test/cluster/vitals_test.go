package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// vitals are what a process tells of itself, and how much it has logged.
type vitals struct {
	goroutines int
	cpu        float64 // seconds
	lines      int
}

// busyShare is how much of the time a process may use a core during an outage. One that tries without a pause uses all of it,
// of as many cores as it gets.
const busyShare = 0.5

func (p *Process) vitals(t *testing.T) vitals {
	t.Helper()
	v := vitals{lines: bytes.Count(p.Log(), []byte("\n"))}
	text := p.metrics(t)
	for name, to := range map[string]any{"go_goroutines": &v.goroutines, "process_cpu_seconds_total": &v.cpu} {
		_, rest, found := strings.Cut(text, "\n"+name+" ")
		if _, err := fmt.Sscan(rest, to); !found || err != nil {
			t.Fatalf("%s tells no %s", p.Name, name)
		}
	}
	return v
}

// metrics is the text of /metrics.
func (p *Process) metrics(t *testing.T) string {
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
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// calm wants a process to have waited during an outage: without a busy loop, without a flood in its log, without piling up
// work.
func (p *Process) calm(t *testing.T, then, now, usual vitals, outage time.Duration) {
	t.Helper()
	t.Logf("%s in %s: %d lines, %.2f s of CPU, %d goroutines", p.Name, outage.Round(100*time.Millisecond), now.lines-then.lines, now.cpu-then.cpu, now.goroutines)
	if n := now.lines - then.lines; n > outageLines {
		t.Errorf("%s logged %d lines, the last:\n%s", p.Name, n, p.Tail(5))
	}
	if used := now.cpu - then.cpu; used > busyShare*outage.Seconds() {
		t.Errorf("%s used %.1f s of CPU in %s", p.Name, used, outage)
	}
	if now.goroutines > usual.goroutines+spareGoroutines {
		t.Errorf("%s has %d goroutines, and had %d", p.Name, now.goroutines, usual.goroutines)
	}
}
