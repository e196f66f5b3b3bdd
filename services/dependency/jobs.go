package dependency

import (
	"context"
	"time"
)

// Job is something that the service does by itself every so often.
type Job string

// The jobs.
const (
	JobRetention Job = "retention"
	JobSweep     Job = "sweep"
)

// JobResult is how a run of a job ended, or stopped for now.
type JobResult string

// The results.
const (
	JobDone    JobResult = "done"    // it came to its end
	JobLooked  JobResult = "looked"  // it did nothing: the first real run of a changed policy is by hand
	JobRefused JobResult = "refused" // it did nothing: too large a share would go, or the graph is not to be trusted
	JobFailed  JobResult = "failed"  // a store was away; it goes on later
)

// JobResults are all of them.
func JobResults() []JobResult { return []JobResult{JobDone, JobLooked, JobRefused, JobFailed} }

// jobState is what is known of the runs of a job, over all replicas.
type jobState struct {
	First time.Time `json:"first"` // when the first run began
	Began time.Time `json:"began"` // when the last one began
	Done  time.Time `json:"done"`  // when the last one came to its end that did not only look
	Look  jobLook   `json:"look"`
}

// jobLook is what a job has seen when it last looked.
type jobLook struct {
	Candidates int        `json:"candidates"` // what is to go, and has not begun to
	Left       int        `json:"left"`       // what stays for now: it is held, or others need it
	Oldest     *time.Time `json:"oldest,omitempty"`
}

// begin notes that a run begins.
func (j *jobState) begin(now time.Time) {
	j.Began = now
	if j.First.IsZero() {
		j.First = now
	}
}

// end notes what a run has left.
func (j *jobState) end(result JobResult, look jobLook, now time.Time) {
	j.Look = look
	if result == JobDone {
		j.Done = now
	}
}

// JobView tells how a job stands.
type JobView struct {
	Candidates int // what was to go when it last looked, and has not begun to
	Left       int // what stayed then: it was held, or others needed it
	// Oldest is for how long the oldest candidate has been one; 0: unknown, or there is none.
	Oldest time.Duration
	// SinceSuccess is since when no run came to its end; before the first that did, since the first began.
	SinceSuccess time.Duration
}

// Jobs tells how the jobs stand that have ever been begun.
func (s *Service) Jobs(ctx context.Context) (map[Job]JobView, error) {
	jobs := map[Job]JobView{}
	err := s.graph.View(ctx, func(tx Tx) error {
		clear(jobs)
		for job, setting := range map[Job]string{JobRetention: settingRetention, JobSweep: settingSweep} {
			state, err := readState[jobState](ctx, tx, setting)
			if err != nil {
				return err
			}
			if !state.Began.IsZero() {
				jobs[job] = state.view(s.now())
			}
		}
		return nil
	})
	return jobs, err
}

func (j jobState) view(now time.Time) JobView {
	v := JobView{Candidates: j.Look.Candidates, Left: j.Look.Left}
	if j.Look.Oldest != nil {
		v.Oldest = age(now, *j.Look.Oldest)
	}
	if v.SinceSuccess = age(now, j.Done); j.Done.IsZero() {
		v.SinceSuccess = age(now, j.First)
	}
	return v
}
