package dependency

import (
	"context"
	"time"
)

// settingSweep keeps what sweepState holds; being in the graph, it holds for every replica and over restarts.
const settingSweep = "sweep"

// sweepClaim is how long a run stays with its replica after its last sign of life: longer than any page takes.
const sweepClaim = 3 * surveyTimeout

// sweepState is what is known of sweeps that remove.
type sweepState struct {
	jobState
	// Run is the one under way.
	Run *sweepRun `json:"run,omitempty"`
}

// sweepPhase is what a run does.
type sweepPhase string

// The phases, in their order. A run that was asked for by hand has been counted in the call, and only removes.
const (
	sweepTakesCensus sweepPhase = "census" // reads the graph
	sweepCounts      sweepPhase = "count"  // reads the stores
	sweepRemoves     sweepPhase = "remove" // reads the stores again
)

// sweepRun is one run: what it has found so far decides whether it may remove anything.
type sweepRun struct {
	running
	Before time.Time  `json:"before"` // what is younger stays
	Phase  sweepPhase `json:"phase"`
	Mark   sweepMark  `json:"mark"`
	Newest string     `json:"newest,omitempty"` // the greatest generation in the graph
	Tally  sweepTally `json:"tally"`
}

// sweepMark is how far a phase has come: all shelves before Shelf, and of it, or of the nodes, everything up to After.
type sweepMark struct {
	Shelf int    `json:"shelf"`
	After string `json:"after,omitempty"`
}

// sweepTally counts what a run has found and done.
type sweepTally struct {
	Total   int            `json:"total"` // candidates of both directions
	Bytes   int64          `json:"bytes"`
	Owners  map[string]int `json:"owners"`         // how many orphans each has
	Last    string         `json:"last,omitempty"` // the place of the last orphan counted
	Known   int            `json:"known"`          // things of assets that the graph knows, deleted ones too
	Unknown int            `json:"unknown"`        // things of others
	Removed int            `json:"removed"`        // deletions begun
}

func (s *Service) newSweep(by string) *sweepRun {
	run := s.newRun(by)
	return &sweepRun{running: run, Before: run.Began.Add(-s.policy.Sweep.MinAge), Phase: sweepTakesCensus, Tally: sweepTally{Owners: map[string]int{}}}
}

// enter begins the next phase.
func (r *sweepRun) enter(phase sweepPhase) { r.Phase, r.Mark = phase, sweepMark{} }

// changeSweep changes the state in a transaction; change tells whether there is anything to keep.
func (s *Service) changeSweep(ctx context.Context, change func(tx Tx, state *sweepState) (keep bool, err error)) error {
	return changeState(ctx, s.graph, settingSweep, change)
}

// beginSweep writes the run down that was asked for by hand, in the place of one under way. It is this replica's at first.
func (s *Service) beginSweep(ctx context.Context, run *sweepRun) error {
	run.Holder, run.Until = s.cfg.Replica, s.now().Add(sweepClaim)
	err := s.changeSweep(ctx, func(_ Tx, state *sweepState) (bool, error) {
		state.begin(run.Began)
		state.Look, state.Run = run.look(), run
		return true, nil
	})
	if err != nil {
		return err
	}
	s.log.Info("orphans are to be removed", "by", run.By, "total", run.Tally.Total, "bytes", run.Tally.Bytes)
	select {
	case s.sweeps <- struct{}{}:
	default:
	}
	return nil
}

// takeSweep takes up the run that is to go on now, or makes the one that is due; nil when there is nothing to do. What another
// policy has left half done is dropped once nobody shows that he lives: its shelves may be others.
func (s *Service) takeSweep(ctx context.Context) (run *sweepRun, err error) {
	var dropped *sweepRun
	err = s.changeSweep(ctx, func(tx Tx, state *sweepState) (keep bool, err error) {
		run, dropped = nil, nil
		now := s.now()
		if r := state.Run; r != nil && !r.free(s.cfg.Replica, now) {
			return false, nil
		}
		if r := state.Run; r != nil && r.Policy != s.policy.Hash {
			dropped, state.Run = r, nil
		}
		if state.Run == nil {
			due, err := s.sweepDue(ctx, tx, *state)
			if err != nil || !due {
				return dropped != nil, err
			}
			state.begin(now)
			state.Run = s.newSweep(bySchedule)
		}
		run = state.Run
		run.Holder, run.Until = s.cfg.Replica, now.Add(sweepClaim)
		return true, nil
	})
	if err == nil && dropped != nil {
		s.log.Warn("the policy has changed under a sweep, which ends half way", "by", dropped.By, "removed", dropped.Tally.Removed)
	}
	return run, err
}

// sweepDue tells whether one is to begin by itself.
func (s *Service) sweepDue(ctx context.Context, tx Tx, state sweepState) (bool, error) {
	every := s.policy.Sweep.Every
	if every <= 0 || state.Began.Add(every).After(s.now()) {
		return false, nil
	}
	_, stop, err := paused(ctx, tx)
	return !stop, err
}

// noteSweep writes down how far the run is, and renews its claim.
func (s *Service) noteSweep(ctx context.Context, run *sweepRun) error {
	run.Until = s.now().Add(sweepClaim)
	return s.changeSweep(ctx, func(_ Tx, state *sweepState) (bool, error) {
		if err := run.ours(*state); err != nil {
			return false, err
		}
		state.Run = run
		if run.Phase == sweepRemoves {
			state.Look = run.look()
		}
		return true, nil
	})
}

// look is what of the count has not begun to go.
func (r *sweepRun) look() jobLook { return jobLook{Candidates: max(0, r.Tally.Total-r.Tally.Removed)} }

// endSweep forgets the run, and keeps what it has left.
func (s *Service) endSweep(ctx context.Context, run *sweepRun, result JobResult) error {
	err := s.changeSweep(ctx, func(_ Tx, state *sweepState) (bool, error) {
		if err := run.ours(*state); err != nil {
			return false, err
		}
		state.Run = nil
		state.end(result, run.look(), s.now())
		return true, nil
	})
	if err == nil {
		s.cfg.Meter.Ran(JobSweep, result)
	}
	return err
}

// ours is errRunLost unless the run in the graph is this one, still held by its replica.
func (r *sweepRun) ours(state sweepState) error {
	if state.Run == nil || !r.holds(&state.Run.running) {
		return errRunLost
	}
	return nil
}
