// Package telemetry measures what the services do, for Prometheus, under the names of the contract (docs/operations.md says
// what each means). It learns of it from ports: the dependency service's Meter, and wrappers of the stores and of the bus.
package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Metrics are the counters and histograms of one process. It implements dependency.Meter.
type Metrics struct {
	deletions   *prometheus.CounterVec
	duration    prometheus.Histogram
	accept      prometheus.Histogram
	erasedBytes prometheus.Counter
	eraseErrors *prometheus.CounterVec
	republished *prometheus.CounterVec
	deadLetters prometheus.Counter
	jobs        map[dependency.Job]jobMetrics
	registerer  prometheus.Registerer
}

var _ dependency.Meter = (*Metrics)(nil)

// New makes the metrics and registers them with a registry that has none of their names yet.
func New(r prometheus.Registerer) *Metrics {
	m := &Metrics{registerer: r, jobs: jobsOf(r),
		deletions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tombstone_deletions_total",
			Help: "Deletions that ended, by result: deleted or cancelled."}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tombstone_deletion_duration_seconds",
			Help:    "Time from the acceptance of a deletion to deleted, grace included.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600, 30 * 24 * 3600}}),
		accept: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tombstone_accept_duration_seconds",
			Help:    "Time to decide on a request for a deletion and write the decision into the graph.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}),
		erasedBytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "tombstone_erased_bytes_total",
			Help: "Bytes of objects seen to be absent after their deletion."}),
		eraseErrors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tombstone_erase_errors_total",
			Help: "Calls of a store for an erasure that failed, by store and by the reason's stable name (timeout and unavailable: no answer)."}, []string{"store", "code"}),
		republished: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tombstone_republished_total",
			Help: "Commands flagged or sent again, by cause: resend, next_try, broker-lost, operator, replay."}, []string{"cause"}),
		deadLetters: prometheus.NewCounter(prometheus.CounterOpts{Name: "tombstone_dead_letters_total",
			Help: "Messages that could not be read."}),
	}
	for _, result := range []dependency.Status{dependency.Deleted, dependency.Cancelled} {
		m.deletions.WithLabelValues(string(result))
	}
	r.MustRegister(m.deletions, m.duration, m.accept, m.erasedBytes, m.eraseErrors, m.republished, m.deadLetters)
	return m
}

// Accepted notes how long a request for a deletion took.
func (m *Metrics) Accepted(took time.Duration) { m.accept.Observe(took.Seconds()) }

// Ended notes the end of a deletion.
func (m *Metrics) Ended(result dependency.Status, took time.Duration) {
	m.deletions.WithLabelValues(string(result)).Inc()
	if result == dependency.Deleted {
		m.duration.Observe(took.Seconds())
	}
}

// Erased adds the bytes of a part.
func (m *Metrics) Erased(bytes int64) { m.erasedBytes.Add(float64(bytes)) }

// Republished notes commands that were flagged or sent again.
func (m *Metrics) Republished(cause string, n int) {
	m.republished.WithLabelValues(cause).Add(float64(n))
}
