package dependency

import (
	"context"
	"errors"

	"github.com/tombstone-project/tombstone/problem"
)

// RunSweep sweeps until ctx ends: by the policy's schedule, if it has one, when a person has asked for it, and what another
// replica has left half done.
func (s *Service) RunSweep(ctx context.Context) error {
	return keepUp(ctx, s.policy.Sweep.Every, s.sweeps, func(bool) {
		if err := s.Tidy(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("the sweep does not come on; it goes on later where it is", "error", err)
		}
	})
}

// Tidy does what a sweep is to do now, if anything: one that was asked for or left half done, or one by the schedule.
func (s *Service) Tidy(ctx context.Context) error {
	run, err := s.takeSweep(ctx)
	if err != nil || run == nil {
		return err
	}
	w := &sweep{s: s, run: run}
	w.turned = func(ctx context.Context, changed bool) error {
		if !changed && run.Until.Sub(s.now()) > sweepClaim/2 {
			return nil
		}
		return s.noteSweep(ctx, run)
	}
	err, result := w.goOn(ctx), JobDone
	switch {
	case errors.Is(err, errRunLost):
		return nil
	case isSweepRefusal(err):
		s.log.Warn("the sweep removes nothing; look at a dry run: tombstone sweep", "by", run.By, "error", err)
		result = JobRefused
	case err != nil:
		s.cfg.Meter.Ran(JobSweep, JobFailed)
		return err
	default:
		s.log.Info("the sweep has run", "by", run.By, "candidates", run.Tally.Total, "removed", run.Tally.Removed, "took", s.now().Sub(run.Began))
	}
	return s.endSweep(ctx, run, result)
}

// isSweepRefusal tells what trying again does not mend.
func isSweepRefusal(err error) bool {
	return problemNamed(err, problem.EmptyGraph) || problemNamed(err, problem.GraphBehind) || problemNamed(err, problem.ShareExceeded)
}

// goOn does what is left of the run.
func (w *sweep) goOn(ctx context.Context) error {
	if w.run.Phase != sweepRemoves {
		if err := w.count(ctx); err != nil {
			return err
		}
		over, err := w.s.exceedsShare(ctx, w.run.Tally.Owners)
		if err != nil {
			return err
		}
		if len(over) > 0 {
			return w.s.shareExceeded(over)
		}
		w.run.enter(sweepRemoves)
		if err := w.s.noteSweep(ctx, w.run); err != nil {
			return err
		}
	}
	return w.survey(ctx, w.remove)
}
