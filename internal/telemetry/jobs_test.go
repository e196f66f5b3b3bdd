package telemetry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tombstone-project/tombstone/internal/telemetry"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// H-73: how retention and the sweep stand, and what they have done.
func TestJobsAreMeasured(t *testing.T) {
	r := prometheus.NewRegistry()
	m := telemetry.New(r)
	jobs := map[dependency.Job]dependency.JobView{dependency.JobRetention: {Candidates: 7, Left: 2, Oldest: time.Hour, SinceSuccess: 25 * time.Hour}}
	var err error
	read := func(context.Context) (map[dependency.Job]dependency.JobView, error) { return jobs, err }
	if err := m.Jobs(read); err != nil {
		t.Fatal(err)
	}
	m.Ran(dependency.JobRetention, dependency.JobDone)
	m.Ran(dependency.JobRetention, dependency.JobLooked)
	m.Ran(dependency.JobRetention, dependency.JobLooked)
	m.Ran(dependency.JobSweep, dependency.JobFailed)
	m.Began(dependency.JobRetention, 50)
	m.Began(dependency.JobSweep, 3)
	gauges := []string{"tombstone_retention_candidates", "tombstone_retention_last_success_seconds", "tombstone_retention_left", "tombstone_retention_oldest_seconds",
		"tombstone_sweep_candidates", "tombstone_sweep_last_success_seconds"}
	wants(t, r, []string{"tombstone_retention_candidates 7", "tombstone_retention_last_success_seconds 90000", "tombstone_retention_left 2",
		"tombstone_retention_oldest_seconds 3600"}, gauges...) // nobody has swept yet
	wants(t, r, []string{"tombstone_retention_expired_total 50", `tombstone_retention_runs_total{result="done"} 1`, `tombstone_retention_runs_total{result="failed"} 0`,
		`tombstone_retention_runs_total{result="looked"} 2`, `tombstone_retention_runs_total{result="refused"} 0`, "tombstone_sweep_removed_total 3",
		`tombstone_sweep_runs_total{result="done"} 0`, `tombstone_sweep_runs_total{result="failed"} 1`, `tombstone_sweep_runs_total{result="looked"} 0`,
		`tombstone_sweep_runs_total{result="refused"} 0`},
		"tombstone_retention_expired_total", "tombstone_retention_runs_total", "tombstone_sweep_removed_total", "tombstone_sweep_runs_total")
	other := prometheus.NewRegistry()
	jobs[dependency.JobSweep] = dependency.JobView{Candidates: 4, SinceSuccess: time.Minute}
	if err := telemetry.New(other).Jobs(read); err != nil {
		t.Fatal(err)
	}
	wants(t, other, []string{"tombstone_sweep_candidates 4", "tombstone_sweep_last_success_seconds 60"}, "tombstone_sweep_candidates", "tombstone_sweep_last_success_seconds")
	away := prometheus.NewRegistry()
	err = errors.New("no graph")
	if err := telemetry.New(away).Jobs(read); err != nil {
		t.Fatal(err)
	}
	wants(t, away, nil, gauges...)
}
