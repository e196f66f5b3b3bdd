package telemetry

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// jobMetrics are those of a job: two counters of this process, and gauges of all replicas.
type jobMetrics struct {
	runs  *prometheus.CounterVec
	began prometheus.Counter

	candidates, left, oldest, success *prometheus.Desc
}

// jobsOf makes the metrics of the jobs, by job.
func jobsOf(r prometheus.Registerer) map[dependency.Job]jobMetrics {
	jobs := map[dependency.Job]jobMetrics{
		dependency.JobRetention: {
			runs:       runsOf("tombstone_retention_runs_total", "Runs of retention, by result: done, looked (the policy is not confirmed), refused, failed (it goes on later)."),
			began:      counter("tombstone_retention_expired_total", "Assets and parts whose deletion retention has begun."),
			candidates: gauge("tombstone_retention_candidates", "What has expired and has not begun to go, when retention last looked."),
			left:       gauge("tombstone_retention_left", "What has expired and stays, when retention last looked: it is held, or others need it."),
			oldest:     gauge("tombstone_retention_oldest_seconds", "For how long the oldest candidate has expired; 0: none."),
			success:    gauge("tombstone_retention_last_success_seconds", "Since the last run of retention that came to its end; before that, since the first began."),
		},
		dependency.JobSweep: {
			runs:       runsOf("tombstone_sweep_runs_total", "Sweeps that remove, by result: done, refused, failed (it goes on later)."),
			began:      counter("tombstone_sweep_removed_total", "Orphans whose deletion the sweep has begun."),
			candidates: gauge("tombstone_sweep_candidates", "What the last sweep that removes has found and not removed, missing documents among it."),
			success:    gauge("tombstone_sweep_last_success_seconds", "Since the last sweep that came to its end; before that, since the first began."),
		},
	}
	for _, j := range jobs {
		r.MustRegister(j.runs, j.began)
	}
	return jobs
}

func runsOf(name, help string) *prometheus.CounterVec {
	runs := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"result"})
	for _, result := range dependency.JobResults() {
		runs.WithLabelValues(string(result))
	}
	return runs
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func gauge(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

// Ran notes the end of a run.
func (m *Metrics) Ran(job dependency.Job, result dependency.JobResult) {
	m.jobs[job].runs.WithLabelValues(string(result)).Inc()
}

// Began notes deletions that a job has begun.
func (m *Metrics) Began(job dependency.Job, n int) { m.jobs[job].began.Add(float64(n)) }

// jobGauges are read from the graph at a scrape. While it does not answer, and for a job that was never begun, they are left
// out.
type jobGauges struct {
	jobs map[dependency.Job]jobMetrics
	read *recently[map[dependency.Job]dependency.JobView]
}

// Jobs registers gauges of what read tells.
func (m *Metrics) Jobs(read func(context.Context) (map[dependency.Job]dependency.JobView, error)) error {
	return m.registerer.Register(jobGauges{m.jobs, &recently[map[dependency.Job]dependency.JobView]{read: read}})
}

// Describe names the gauges.
func (g jobGauges) Describe(out chan<- *prometheus.Desc) {
	for _, j := range g.jobs {
		for _, d := range []*prometheus.Desc{j.candidates, j.left, j.oldest, j.success} {
			if d != nil {
				out <- d
			}
		}
	}
}

// Collect reads the graph, unless it did a moment ago.
func (g jobGauges) Collect(out chan<- prometheus.Metric) {
	views, err := g.read.now()
	if err != nil {
		return
	}
	for job, v := range views {
		j := g.jobs[job]
		for d, value := range map[*prometheus.Desc]float64{j.candidates: float64(v.Candidates), j.left: float64(v.Left), j.oldest: v.Oldest.Seconds(), j.success: v.SinceSuccess.Seconds()} {
			if d != nil {
				out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
			}
		}
	}
}
