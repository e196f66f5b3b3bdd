package dependency

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// acceptItem is one request for a deletion.
type acceptItem struct {
	by   Caller
	id   string
	part string // empty: the whole asset
	// batch that it belongs to; empty: none
	batch string
	DeleteRequest
	expired *expiry // set when retention asks: it goes only if it has expired still
	// seen is the plan as of just before the transaction, where IfPlan asks for one.
	seen *planHash
}

type acceptResult struct {
	deletion Deletion
	err      error
	closure  bool // it needs a closure, and so a turn of its own
	unseen   bool // nothing stands against it but IfPlan, which cannot be compared before the stores were looked into
}

// Delete is T1: it checks, and in one graph transaction turns the node into a tombstone and writes the command flag. See
// CONTRACT section 5 for the answers and the order of the checks.
func (s *Service) Delete(ctx context.Context, id string, r DeleteRequest) (Deletion, error) {
	return s.delete(ctx, acceptItem{id: id, DeleteRequest: r})
}

func (s *Service) delete(ctx context.Context, it acceptItem) (Deletion, error) {
	var err error
	if it.by, err = caller(ctx); err != nil {
		return Deletion{}, err
	}
	if err := policy.ValidateID(it.id); err != nil {
		return Deletion{}, assetNotFound(it.id)
	}
	began := time.Now()
	res, err := s.acceptances.Do(ctx, it)
	if err == nil && res.unseen {
		res, err = s.acceptAsPlanned(ctx, it)
	}
	if problemNamed(res.err, problem.PlanChanged) {
		res.err = s.nameChanges(ctx, it, res.err)
	}
	if err != nil {
		return Deletion{}, err
	}
	s.cfg.Meter.Accepted(time.Since(began))
	if res.err != nil || it.Wait <= 0 || res.deletion.Status == Deleted || res.deletion.DueAt.After(s.now().Add(it.Wait)) {
		return res.deletion, res.err // what is not even due by then need not be waited for
	}
	return s.await(ctx, res.deletion, it.Wait)
}

// acceptAsPlanned looks into the stores, and asks again: what the stores hold is compared just before the transaction, and
// the rest in it.
func (s *Service) acceptAsPlanned(ctx context.Context, it acceptItem) (acceptResult, error) {
	for {
		seen, err := s.planNow(ctx, it)
		switch p := problem.As(err); {
		case err == nil:
			it.seen = &seen
		case p == nil || p.Name == problem.Unavailable:
			return acceptResult{}, err
		} // any other refusal is one of an asset that has changed just now, and the transaction's to give
		if res, err := s.acceptances.Do(ctx, it); err != nil || !res.unseen {
			return res, err
		}
	}
}

// accept is one transaction of requests. What was refused only because of dependants is looked at again while others of
// the same transaction went, so that a batch answers like some order of its requests one by one.
func (s *Service) accept(ctx context.Context, items []acceptItem) ([]acceptResult, error) {
	var results []acceptResult
	var accepted acceptedWork
	err := s.graph.Update(ctx, func(tx Tx) error {
		results, accepted = make([]acceptResult, len(items)), acceptedWork{}
		var closures []int
		todo := make([]int, len(items))
		for i := range items {
			todo[i] = i
		}
		for len(todo) > 0 {
			w := &acceptWorld{world: newWorld(tx, s.now()), s: s}
			if err := w.read(ctx, items, todo); err != nil {
				return err
			}
			var again []int
			for _, i := range todo {
				switch results[i] = w.accept(ctx, items[i]); {
				case results[i].closure:
					closures = append(closures, i)
				case problemNamed(results[i].err, problem.HasDependants):
					again = append(again, i)
				}
			}
			if err := w.flush(ctx); err != nil {
				return err
			}
			accepted.add(w.world)
			if len(w.deletions) == 0 {
				break
			}
			todo = again
		}
		for _, i := range closures {
			w := &acceptWorld{world: newWorld(tx, s.now()), s: s, wider: map[string]bool{items[i].id: true}}
			if err := w.read(ctx, items, []int{i}); err != nil {
				return err
			}
			if results[i] = w.accept(ctx, items[i]); results[i].closure {
				var err error
				if results[i], err = w.acceptClosure(ctx, items[i]); err != nil {
					return err
				}
			}
			if err := w.flush(ctx); err != nil {
				return err
			}
			accepted.add(w.world)
		}
		return nil
	})
	if err == nil {
		s.handOver(accepted)
	}
	return results, err
}

// acceptedWork is what a committed transaction leaves to publish.
type acceptedWork struct {
	deletions []DeletionRecord
	erasures  []Erasure
	commands  []Command
	entries   []Entry
}

func (a *acceptedWork) add(w *world) {
	a.deletions = append(a.deletions, w.deletions...)
	a.erasures = append(a.erasures, w.erasures...)
	a.commands = append(a.commands, w.commands...)
	a.entries = append(a.entries, w.entries...)
}

// handOver gives the flags that were written with this replica's claim to the relays, so that nothing waits for R1.
func (s *Service) handOver(a acceptedWork) {
	s.handOverEntries(a.entries, a.deletions)
	if s.cfg.SendCommands == nil {
		return
	}
	deletions, erasures := index(a.deletions, a.erasures)
	var mine []Command
	for _, c := range a.commands {
		if c.ClaimedBy == s.cfg.Replica {
			mine = append(mine, c)
		}
	}
	if flags := s.flags(mine, deletions, erasures); len(flags) > 0 {
		s.cfg.SendCommands(flags)
	}
}
