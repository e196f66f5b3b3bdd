package dependency

import (
	"context"
	"errors"
	"slices"

	"github.com/tombstone-project/tombstone/problem"
)

// expiryChunk is how many requests of retention may stand in the queue of T1 before those of people.
const expiryChunk = 50

// RunRetention runs retention until ctx ends: at start, on the policy's schedule, when a person has asked for it, and what
// another replica has left half done.
func (s *Service) RunRetention(ctx context.Context) error {
	return keepUp(ctx, s.policy.Retention.Every, s.retain, func(atStart bool) {
		if err := s.Retain(ctx, atStart); err != nil && ctx.Err() == nil {
			s.log.Warn("retention does not come on; it goes on later", "error", err)
		}
	})
}

// Retain runs what is to be run now, if anything: a run that was asked for or left half done, or one by the schedule.
func (s *Service) Retain(ctx context.Context, atStart bool) error {
	run, err := s.takeRetention(ctx, atStart)
	if err != nil || run == nil {
		return err
	}
	err = s.runRetention(ctx, run)
	if errors.Is(err, errRunLost) {
		return nil
	}
	if err != nil {
		s.cfg.Meter.Ran(JobRetention, JobFailed)
	}
	return err
}

func (s *Service) runRetention(ctx context.Context, run *retentionRun) error {
	if !run.Counted {
		if goOn, err := s.countRetention(ctx, run); err != nil || !goOn {
			return err
		}
	}
	err := s.walkExpired(ctx, run.Mark, func(p expiredPage) error {
		run.Tally.Left.Held += p.left.Held
		run.Tally.Left.Dependants += p.left.Dependants
		if err := s.expire(ctx, run, p.found); err != nil {
			return err
		}
		run.Mark = p.next
		return s.noteSometimes(ctx, run, len(p.found) > 0)
	})
	if err != nil {
		return err
	}
	s.log.Info("retention has run", "by", run.By, "accepted", run.Tally.Accepted, "changed_meanwhile", run.Tally.Changed,
		"held", run.Tally.Left.Held, "with_dependants", run.Tally.Left.Dependants, "refused", run.Tally.Refused, "took", s.now().Sub(run.Began))
	look := jobLook{Candidates: run.Tally.Refused, Left: run.Tally.Left.Held + run.Tally.Left.Dependants}
	if look.Candidates > 0 {
		look.Oldest = run.Found.Oldest
	}
	return s.endRetention(ctx, run, JobDone, look)
}

// countRetention is the first half of a run by the schedule: how much has expired, and whether the policy lets so much go
// by itself; else the run ends with it.
func (s *Service) countRetention(ctx context.Context, run *retentionRun) (goOn bool, err error) {
	found, err := s.findExpired(ctx, func() error { return s.noteSometimes(ctx, run, false) })
	if err != nil {
		return false, err
	}
	told := []any{"expired", found.Total, "bytes", found.Bytes, "held", found.Left.Held, "with_dependants", found.Left.Dependants}
	if found.Oldest != nil {
		told = append(told, "oldest", *found.Oldest)
	}
	switch {
	case found.Total == 0:
		s.log.Debug("nothing has expired", told...)
		return false, s.endRetention(ctx, run, JobDone, found.look())
	case len(found.ExceedsShare) > 0:
		s.log.Warn("retention does nothing: too large a share of an owner's assets has expired", append(told, "error", s.shareExceeded(found.ExceedsShare))...)
		return false, s.endRetention(ctx, run, JobRefused, found.look())
	case !run.Apply:
		s.log.Warn("retention only looks: the first real run of a changed policy is by hand, tombstone retention --apply", told...)
		return false, s.endRetention(ctx, run, JobLooked, found.look())
	}
	run.Counted, run.Found = true, found.look()
	return true, s.noteRetention(ctx, run)
}

// noteSometimes writes the mark down after a page that changed something, and else when the claim is half over.
func (s *Service) noteSometimes(ctx context.Context, run *retentionRun, changed bool) error {
	if !changed && run.Until.Sub(s.now()) > runClaim/2 {
		return nil
	}
	return s.noteRetention(ctx, run)
}

// expire asks for the deletions, a few at a time, so that requests of people come in between.
func (s *Service) expire(ctx context.Context, run *retentionRun, found []expiry) error {
	for chunk := range slices.Chunk(found, expiryChunk) {
		items := make([]acceptItem, len(chunk))
		for i, x := range chunk {
			items[i] = x.item()
		}
		results, errs := s.acceptances.DoAll(ctx, items)
		if err := errors.Join(errs...); err != nil {
			return err
		}
		before := run.Tally.Accepted
		for i, r := range results {
			s.tally(&run.Tally, chunk[i], r.err)
		}
		s.cfg.Meter.Began(JobRetention, run.Tally.Accepted-before)
	}
	return nil
}

// tally counts one answer. What is refused stays, and does not keep the run from its end.
func (s *Service) tally(t *runTally, x expiry, err error) {
	switch {
	case err == nil:
		t.Accepted++
	case errors.Is(err, errKept):
		t.Changed++
	case problemNamed(err, problem.OnHold):
		t.Left.Held++
	case problemNamed(err, problem.HasDependants):
		t.Left.Dependants++
	default:
		t.Refused++
		s.log.Warn("retention cannot delete an asset", "asset", x.asset, "part", x.part, "error", err)
	}
}
