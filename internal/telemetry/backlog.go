package telemetry

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// backlog is what waits, as gauges: read from the graph at a scrape. While the graph does not answer they are left out.
type backlog struct {
	read *recently[dependency.Backlog]

	flags, oldestFlag, oldest, stalled, blocked, canary, canaryEvery *prometheus.Desc
}

// Backlog registers gauges of what read tells.
func (m *Metrics) Backlog(read func(context.Context) (dependency.Backlog, error)) error {
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return m.registerer.Register(&backlog{read: &recently[dependency.Backlog]{read: read},
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
	now, err := b.read.now()
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
