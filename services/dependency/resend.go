package dependency

import (
	"context"
	"time"
)

// resendPage bounds one transaction of R2.
const resendPage = 100

// Causes of a flag that was set again.
const (
	causeResend   = "resend"   // nothing was heard for resend_after
	causeNextTry  = "next_try" // the worker asked for another try at this time
	causeLost     = "broker-lost"
	causeOperator = "operator"
	causeRecheck  = "recheck" // not to erase, but to look again at what was erased
)

// RunResend is R2: what is `deleting` without a flag and was not heard of for resend_after is flagged again, looked at
// every min(1m, resend_after/2) until ctx ends. Not completed drives the saga, not message sent (DESIGN section 3).
func (s *Service) RunResend(ctx context.Context) error {
	tick := time.NewTicker(min(time.Minute, s.policy.ResendAfter/2))
	defer tick.Stop()
	for {
		if err := s.Resend(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("looking for what was not heard of failed; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Resend looks once, in pages, for what was not heard of.
func (s *Service) Resend(ctx context.Context) error { return s.resend(ctx, s.now(), "") }

// ResendLost flags everything again that the broker held when it was wiped: all that is `deleting`, but for what the graph
// keeps for a later try anyway.
func (s *Service) ResendLost(ctx context.Context) error {
	// Each flag that this sets moves its erasure to resend_after from then on, and so out of sight of the next page.
	return s.resend(ctx, s.now().Add(s.policy.ResendAfter-time.Microsecond), causeLost)
}

func (s *Service) resend(ctx context.Context, checkedBy time.Time, cause string) error {
	for {
		var due []Erasure
		err := s.graph.View(ctx, func(tx Tx) (err error) {
			due, err = tx.DueErasures(ctx, checkedBy, false, resendPage)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		if _, err := s.flagAgain(ctx, due, cause); err != nil {
			return err
		}
	}
}

// lockAgain locks erasures that were found without locks, reads them as they are now, and tells which have a flag already.
func (w *world) lockAgain(ctx context.Context, found []Erasure) (erasures map[ErasureKey]Erasure, pending map[ErasureKey]bool, err error) {
	keys, locks := erasureLocks(found)
	if err := w.load(ctx, locks); err != nil {
		return nil, nil, err
	}
	if erasures, err = w.tx.Erasures(ctx, keys); err != nil {
		return nil, nil, err
	}
	flagged, err := w.tx.Commands(ctx, CommandFilter{Erasures: keys})
	pending = map[ErasureKey]bool{}
	for _, c := range flagged {
		pending[ErasureKey{c.Deletion, c.Asset}] = true
	}
	return erasures, pending, err
}

// flagAgain sets the flags of erasures again, after a second look under their locks. cause "" is R2's, which finds out
// why; an operator's drives also what is not due yet.
func (s *Service) flagAgain(ctx context.Context, found []Erasure, cause string) (deletions map[string]bool, err error) {
	var w *world
	err = s.graph.Update(ctx, func(tx Tx) error {
		deletions = map[string]bool{}
		w = newWorld(tx, s.now())
		erasures, pending, err := w.lockAgain(ctx, found)
		if err != nil {
			return err
		}
		_, locks := erasureLocks(found)
		records, err := tx.Deletions(ctx, locks.Deletions)
		if err != nil {
			return err
		}
		for _, e := range erasures {
			k := ErasureKey{e.Deletion, e.Asset}
			if e.Done || cause == "" && e.CheckAt.After(w.now) {
				continue
			}
			if records[e.Deletion].Status != Deleting { // cancelled, or not begun: nothing to be heard of
				e.CheckAt = time.Time{}
				w.erasures = append(w.erasures, e)
				continue
			}
			e.CheckAt = w.now.Add(s.policy.ResendAfter)
			w.erasures = append(w.erasures, e)
			if pending[k] {
				continue // R1's: not sent yet
			}
			w.commands = append(w.commands, s.flagFor(e, cause, w.now))
			deletions[e.Deletion] = true
		}
		return w.flush(ctx)
	})
	if err == nil {
		s.republished(w.commands)
	}
	return deletions, err
}

func erasureLocks(list []Erasure) (keys []ErasureKey, locks Locks) {
	for _, e := range list {
		keys = append(keys, ErasureKey{e.Deletion, e.Asset})
		locks.Assets, locks.Deletions = append(locks.Assets, e.Asset), append(locks.Deletions, e.Deletion)
	}
	locks.Assets, locks.Deletions = distinct(locks.Assets), distinct(locks.Deletions)
	return keys, locks
}

// flagFor is a new flag. When the worker had given the command back with a next try, the broker holds no copy; in every
// other case a copy may wait there without any progress, and must not block its own replacement.
func (s *Service) flagFor(e Erasure, cause string, now time.Time) Command {
	if cause == "" {
		cause = causeResend
		for _, step := range e.Steps {
			if step.NextTry != nil && !step.NextTry.After(now) {
				cause = causeNextTry
			}
		}
	}
	s.log.Info("command flagged again", "deletion", e.Deletion, "asset", e.Asset, "cause", cause)
	return Command{ID: newID(), Deletion: e.Deletion, Asset: e.Asset, DueAt: now, Since: now, Replace: cause != causeNextTry, Cause: cause}
}
