package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	// backlogFor is how long one reading of the graph serves: several scrapers cost it no more than one.
	backlogFor = 2 * time.Second
	// backlogTimeout bounds a reading, so that a graph that is away does not hold up a scrape.
	backlogTimeout = 3 * time.Second
)

// backlog is what waits, as gauges: read from the graph at a scrape. While the graph does not answer they are left out.
type backlog struct {
	read func(context.Context) (dependency.Backlog, error)

	flags, oldestFlag, oldest, stalled, blocked, canary, canaryEvery *prometheus.Desc

	mu   sync.Mutex
	at   time.Time
	last dependency.Backlog
	err  error
}

// Backlog registers gauges of what read tells.
func (m *Metrics) Backlog(read func(context.Context) (dependency.Backlog, error)) error {
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return m.registerer.Register(&backlog{read: read,
		flags:       gauge("tombstone_pending_flags", "Commands that the broker is not known to have, those that are not due yet included."),
		oldestFlag:  gauge("tombstone_oldest_pending_seconds", "Age of the oldest of them that is due; 0: none."),
		oldest:      gauge("tombstone_oldest_incomplete_seconds", "Time since the oldest deletion that is deleting was due; 0: none."),
		stalled:     gauge("tombstone_stalled", "Deletions that are not completed stalled_after after they were due."),
		blocked:     gauge("tombstone_blocked", "Deletions that something blocks, by reason.", "reason"),
		canary:      gauge("tombstone_canary_seconds", "Time since the last canary went the whole way: created, written, deleted, seen to be absent."),
		canaryEvery: gauge("tombstone_canary_interval_seconds", "How often a canary begins, by the policy."),
	})
}

// Describe names the gauges.
func (b *backlog) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{b.flags, b.oldestFlag, b.oldest, b.stalled, b.blocked, b.canary, b.canaryEvery} {
		out <- d
	}
}

// Collect reads the graph, unless it did a moment ago.
func (b *backlog) Collect(out chan<- prometheus.Metric) {
	now, err := b.now()
	if err != nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(b.flags, float64(now.Pending))
	gauge(b.oldestFlag, now.OldestPending.Seconds())
	gauge(b.oldest, now.OldestIncomplete.Seconds())
	gauge(b.stalled, float64(now.Stalled))
	for reason, n := range now.Blocked {
		gauge(b.blocked, float64(n), reason)
	}
	if now.CanaryEvery > 0 {
		gauge(b.canary, now.Canary.Seconds())
		gauge(b.canaryEvery, now.CanaryEvery.Seconds())
	}
}

func (b *backlog) now() (dependency.Backlog, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.at.IsZero() && time.Since(b.at) < backlogFor {
		return b.last, b.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	b.last, b.err = b.read(ctx)
	b.at = time.Now()
	return b.last, b.err
}
