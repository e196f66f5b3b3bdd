package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/telemetry"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/sagatest"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// wants compares all series of these metrics, as a scraper reads them.
func wants(t *testing.T, r *prometheus.Registry, want []string, names ...string) {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	var got []string
	for line := range strings.Lines(answer.Body.String()) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "{")
		name, _, _ = strings.Cut(name, " ")
		if slices.Contains(names, name) {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestWhatWaitsIsReadAtAScrapeAndLeftOutWithoutAGraph(t *testing.T) {
	r := prometheus.NewRegistry()
	var err error
	reads := 0
	every := 10 * time.Minute
	read := func(context.Context) (dependency.Backlog, error) {
		reads++
		return dependency.Backlog{Pending: 7, OldestPending: 90 * time.Second, OldestIncomplete: time.Hour, Stalled: 2,
			Blocked: map[string]int{"bucket-missing": 3, "object-locked": 1}, Canary: 5 * time.Minute, CanaryEvery: every}, err
	}
	if err := telemetry.New(r).Backlog(read); err != nil {
		t.Fatal(err)
	}
	names := []string{"tombstone_blocked", "tombstone_canary_interval_seconds", "tombstone_canary_seconds", "tombstone_oldest_incomplete_seconds", "tombstone_oldest_pending_seconds", "tombstone_pending_flags", "tombstone_stalled"}
	text := []string{
		`tombstone_blocked{reason="bucket-missing"} 3`, `tombstone_blocked{reason="object-locked"} 1`,
		"tombstone_canary_interval_seconds 600", "tombstone_canary_seconds 300", "tombstone_oldest_incomplete_seconds 3600",
		"tombstone_oldest_pending_seconds 90", "tombstone_pending_flags 7", "tombstone_stalled 2",
	}
	wants(t, r, text, names...)
	wants(t, r, text, names...)
	if reads == 0 {
		t.Error("nobody read")
	}
	every = 0
	none := prometheus.NewRegistry()
	if err := telemetry.New(none).Backlog(read); err != nil {
		t.Fatal(err)
	}
	wants(t, none, nil, "tombstone_canary_interval_seconds", "tombstone_canary_seconds")

	err = errors.New("no graph")
	other := prometheus.NewRegistry()
	if err := telemetry.New(other).Backlog(read); err != nil {
		t.Fatal(err)
	}
	wants(t, other, nil, names...)
}

func TestFailedCallsOfStoresAreCountedByReason(t *testing.T) {
	r := prometheus.NewRegistry()
	var fault error
	probe := &memory.Probe{Before: func(context.Context, memory.Call) error { return fault }}
	b := memory.NewBlobs(probe)
	b.CreateBucket("assets", memory.Enabled)
	c := telemetry.New(r).Stores(asset.Config{Blobs: b, Documents: memory.NewDocuments(probe), Ledger: memory.NewLedger(probe)})
	ctx := t.Context()
	calls := func() {
		c.Blobs.List(ctx, []asset.Place{{Bucket: "assets", Key: "a"}, {Bucket: "assets", Key: "b"}}, 10)
		c.Blobs.Delete(ctx, "assets", []asset.Version{{Key: "a", ID: "1"}})
		c.Documents.Exists(ctx, []asset.DocumentRef{{Collection: "notes", Key: "a"}})
		c.Documents.Delete(ctx, []asset.DocumentRef{{Collection: "notes", Key: "a"}})
		c.Ledger.Open(ctx, []asset.Head{{Key: asset.LedgerKey{Deletion: "d", Asset: "a", Part: "p"}}})
	}
	calls()
	wants(t, r, nil, "tombstone_erase_errors_total")
	for _, fault = range []error{fmt.Errorf("list: %w", &asset.Blocked{Reason: asset.ReasonAccessDenied}), context.DeadlineExceeded, context.Canceled, errors.New("refused")} {
		calls()
	}
	var text []string
	for _, code := range []string{"access-denied", "timeout", "unavailable"} {
		for store, n := range map[string]int{"blobs": 2, "documents": 2, "ledger": 1} {
			text = append(text, fmt.Sprintf("tombstone_erase_errors_total{code=%q,store=%q} %d", code, store, n))
		}
	}
	slices.Sort(text)
	wants(t, r, text, "tombstone_erase_errors_total")
}

func TestADeadLetterIsCountedOnce(t *testing.T) {
	r := prometheus.NewRegistry()
	bus := sagatest.NewBus(sagatest.BusConfig{})
	s := telemetry.New(r).Subscriber(bus.Commands())
	if err := errors.Join(bus.Publish(t.Context(), []saga.Message{{Subject: events.Names{}.Command("d", "a"), Data: []byte("{")}})...); err != nil {
		t.Fatal(err)
	}
	deliveries, err := s.Fetch(t.Context(), 1)
	if err != nil || len(deliveries) != 1 {
		t.Fatalf("fetch: %d, %v", len(deliveries), err)
	}
	for range 2 {
		if err := deliveries[0].Bury(t.Context(), "cut"); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, r, []string{"tombstone_dead_letters_total 1"}, "tombstone_dead_letters_total")
}
