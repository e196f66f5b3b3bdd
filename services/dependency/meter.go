package dependency

import (
	"context"
	"time"
)

// Meter is told what happened, after its transaction. It must not block.
type Meter interface {
	// Accepted is told how long it took to decide on a request for a deletion, whatever was decided.
	Accepted(took time.Duration)
	// Ended is told that a deletion is Deleted or Cancelled, and how long after its request; once, in one process.
	Ended(result Status, took time.Duration)
	// Erased is told of the bytes of a part that was seen to be absent; once, in one process.
	Erased(bytes int64)
	// Republished is told that n commands were flagged or sent again.
	Republished(cause string, n int)
	// Ran is told how a run of a job ended, or that it stopped for now.
	Ran(job Job, result JobResult)
	// Began is told that a job has begun n deletions.
	Began(job Job, n int)
}

// noMeter is nobody.
type noMeter struct{}

func (noMeter) Accepted(time.Duration)      {}
func (noMeter) Ended(Status, time.Duration) {}
func (noMeter) Erased(int64)                {}
func (noMeter) Republished(string, int)     {}
func (noMeter) Ran(Job, JobResult)          {}
func (noMeter) Began(Job, int)              {}

// causeReplay is that of a flag which an operator had published, whoever had claimed it.
const causeReplay = "replay"

// republished tells the meter of flags that were set again.
func (s *Service) republished(commands []Command) {
	causes := map[string]int{}
	for _, c := range commands {
		causes[c.Cause]++
	}
	for cause, n := range causes {
		s.cfg.Meter.Republished(cause, n)
	}
}

// Backlog is what waits.
type Backlog struct {
	Pending          int            // command flags, those not due included
	OldestPending    time.Duration  // age of the oldest flag that is due; 0: none
	OldestIncomplete time.Duration  // since the oldest deletion that is deleting was due; 0: none
	Stalled          int            // deletions
	Blocked          map[string]int // deletions by reason
	// Canary is the time since the last canary went through, CanaryEvery how often one begins; 0: there is none.
	Canary, CanaryEvery time.Duration
}

// Backlog looks at what waits, by a few queries whose cost does not grow with what is done.
func (s *Service) Backlog(ctx context.Context) (b Backlog, err error) {
	now := s.now()
	err = s.graph.View(ctx, func(tx Tx) error {
		pending, oldest, err := tx.CountCommands(ctx, now)
		if err != nil {
			return err
		}
		incomplete, err := tx.CountIncomplete(ctx, now.Add(-s.policy.StalledAfter))
		b = Backlog{Pending: pending, OldestPending: age(now, oldest), OldestIncomplete: age(now, incomplete.Oldest), Stalled: incomplete.Stalled,
			Blocked: incomplete.Blocked}
		if err != nil || !s.hasCanary() {
			return err
		}
		b.CanaryEvery = s.policy.Canary.Every
		b.Canary, err = s.canaryAge(ctx, tx, now)
		return err
	})
	return b, err
}

// age is how long ago a time was; 0 for none.
func age(now, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(0, now.Sub(at))
}
