package dependency

import (
	"context"
	"time"
)

// settingRetention keeps what retentionState holds; being in the graph, it holds for every replica and over restarts.
const settingRetention = "retention"

// runClaim is how long a run stays with its replica after its last sign of life.
const runClaim = time.Minute

// startSpacing keeps replicas that start together from running retention one after the other.
const startSpacing = 10 * time.Minute

// retentionState is what is known of runs of retention.
type retentionState struct {
	jobState
	// Policy is the hash of the policy under which a real run was confirmed, by a run by hand or by `first_run: apply`.
	Policy string `json:"policy,omitempty"`
	// Run is the one under way.
	Run *retentionRun `json:"run,omitempty"`
}

// retentionRun is one run: a count first, which the share brake decides on, then page after page from its mark on.
type retentionRun struct {
	running
	Apply   bool     `json:"apply"`
	Counted bool     `json:"counted"`
	Found   jobLook  `json:"found"` // once it is counted
	Mark    walkMark `json:"mark"`
	Tally   runTally `json:"tally"`
}

// runTally counts what a run has done.
type runTally struct {
	Accepted int  `json:"accepted"`
	Changed  int  `json:"changed"` // not expired any more when it was looked at again
	Refused  int  `json:"refused"` // for another reason, which the log tells
	Left     Left `json:"left"`
}

// changeRetention changes the state in a transaction; change tells whether there is anything to keep.
func (s *Service) changeRetention(ctx context.Context, change func(tx Tx, state *retentionState) (keep bool, err error)) error {
	return changeState(ctx, s.graph, settingRetention, change)
}

// beginRetention makes the run that was asked for by hand, in the place of one under way.
func (s *Service) beginRetention(ctx context.Context, by string, found Expired) error {
	err := s.changeRetention(ctx, func(_ Tx, state *retentionState) (bool, error) {
		state.begin(s.now())
		state.Policy, state.Look = s.policy.Hash, found.look()
		state.Run = &retentionRun{running: s.newRun(by), Apply: true, Counted: true, Found: state.Look}
		return true, nil
	})
	if err != nil {
		return err
	}
	s.log.Info("a run of retention was asked for", "by", by, "expired", found.Total)
	select {
	case s.retain <- struct{}{}:
	default:
	}
	return nil
}

// takeRetention takes up the run that is to go on now, or makes the one that is due; nil when there is nothing to do.
func (s *Service) takeRetention(ctx context.Context, atStart bool) (run *retentionRun, err error) {
	err = s.changeRetention(ctx, func(tx Tx, state *retentionState) (bool, error) {
		run = nil
		now := s.now()
		if r := state.Run; r != nil && r.Policy == s.policy.Hash {
			if !r.free(s.cfg.Replica, now) {
				return false, nil
			}
		} else {
			_, stop, err := paused(ctx, tx)
			if err != nil || stop || !s.retentionDue(*state, now, atStart) {
				return false, err
			}
			apply := state.Policy == s.policy.Hash || s.policy.Retention.FirstRun == "apply"
			if apply {
				state.Policy = s.policy.Hash
			}
			state.begin(now)
			state.Run = &retentionRun{running: s.newRun(bySchedule), Apply: apply}
		}
		state.Run.Holder, state.Run.Until = s.cfg.Replica, now.Add(runClaim)
		mine := *state.Run
		run = &mine
		return true, nil
	})
	return run, err
}

// retentionDue tells whether a run is to begin by itself: at the start of a process, and every so often.
func (s *Service) retentionDue(state retentionState, now time.Time, atStart bool) bool {
	every := s.policy.Retention.Every
	switch {
	case every <= 0 || len(s.expiringKinds()) == 0:
		return false
	case atStart:
		return !state.Began.Add(min(every, startSpacing)).After(now)
	}
	return !state.Began.Add(every + s.retentionJitter).After(now)
}

// retentionJitterOf bounds by how much a replica puts off a run of the schedule.
func retentionJitterOf(every time.Duration) time.Duration { return max(min(every/10, startSpacing), 1) }

// noteRetention writes down how far the run is, and renews its claim.
func (s *Service) noteRetention(ctx context.Context, run *retentionRun) error {
	run.Until = s.now().Add(runClaim)
	return s.changeRetention(ctx, func(_ Tx, state *retentionState) (bool, error) {
		if state.Run == nil || !run.holds(&state.Run.running) {
			return false, errRunLost
		}
		mine := *run
		state.Run = &mine
		if run.Counted {
			state.Look = run.left()
		}
		return true, nil
	})
}

// left is what of the count has not begun to go.
func (r *retentionRun) left() jobLook {
	left := r.Found
	left.Candidates = max(0, left.Candidates-r.Tally.Accepted-r.Tally.Changed)
	return left
}

// endRetention forgets the run, and keeps what it has left.
func (s *Service) endRetention(ctx context.Context, run *retentionRun, result JobResult, look jobLook) error {
	err := s.changeRetention(ctx, func(_ Tx, state *retentionState) (bool, error) {
		if state.Run == nil || !run.holds(&state.Run.running) {
			return false, errRunLost
		}
		state.Run = nil
		state.end(result, look, s.now())
		return true, nil
	})
	if err == nil {
		s.cfg.Meter.Ran(JobRetention, result)
	}
	return err
}
