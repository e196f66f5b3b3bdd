package dependency

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// lateDetail is what the trail says of what a recheck found.
const lateDetail = "found at a recheck and removed: it had landed after the deletion"

// shortestTick bounds how often R3 looks, whatever the policy says.
const shortestTick = 100 * time.Millisecond

// RunRecheck is R3: what was erased recheck_after ago is looked at again, for something may have landed since: an upload that
// began before its deadline, a write that was admitted before the tombstone. It runs until ctx ends.
func (s *Service) RunRecheck(ctx context.Context) error {
	tick := time.NewTicker(max(shortestTick, min(time.Minute, s.policy.RecheckAfter/2)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.Recheck(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("looking for what is to be rechecked failed; it is tried again", "error", err)
		}
	}
}

// Recheck flags once, in pages, everything whose later look is due: a command that asks the asset service to look again.
func (s *Service) Recheck(ctx context.Context) error {
	for {
		var due []Erasure
		err := s.graph.View(ctx, func(tx Tx) (err error) {
			due, err = tx.DueErasures(ctx, s.now(), true, resendPage)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		if err := s.flagRechecks(ctx, due); err != nil {
			return err
		}
	}
}

// flagRechecks looks again under the locks, and so sets one flag whichever replicas look. Each moves to resend_after from now,
// and comes again then if nothing was heard of it.
func (s *Service) flagRechecks(ctx context.Context, found []Erasure) error {
	return s.graph.Update(ctx, func(tx Tx) error {
		w := newWorld(tx, s.now())
		erasures, pending, err := w.lockAgain(ctx, found)
		if err != nil {
			return err
		}
		for k, e := range erasures {
			if !e.Done || e.CheckAt.IsZero() || e.CheckAt.After(w.now) {
				continue
			}
			e.CheckAt = w.now.Add(s.policy.ResendAfter)
			w.erasures = append(w.erasures, e)
			if !pending[k] {
				w.commands = append(w.commands, Command{ID: newID(), Deletion: e.Deletion, Asset: e.Asset, DueAt: w.now, Since: w.now,
					Replace: true, Cause: causeRecheck})
			}
		}
		return w.flush(ctx)
	})
}

// lookAgain has what erasures have emptied looked at again now, whatever their time was. It counts those that are done.
func (s *Service) lookAgain(ctx context.Context, found []Erasure) (driven int, err error) {
	if len(found) == 0 {
		return 0, nil
	}
	err = s.graph.Update(ctx, func(tx Tx) error {
		driven = 0
		w := newWorld(tx, s.now())
		erasures, _, err := w.lockAgain(ctx, found)
		if err != nil {
			return err
		}
		for _, e := range erasures {
			if e.Done {
				e.CheckAt = w.now
				w.erasures, driven = append(w.erasures, e), driven+1
			}
		}
		return w.flush(ctx)
	})
	if err != nil {
		return 0, err
	}
	return driven, s.Recheck(ctx)
}

// recheckAt is when the places of an erasure that is done are looked at again; zero when there is none to look at.
func (w *reportWorld) recheckAt(e Erasure) time.Time {
	for _, step := range e.Steps {
		if step.Forced == "" {
			return w.now.Add(w.s.policy.RecheckAfter)
		}
	}
	return time.Time{}
}

// recheckOf is the number of the look that a report is about; 0 for the erasure itself.
func recheckOf(item any) int {
	switch r := item.(type) {
	case *events.AssetErased:
		return r.Recheck
	case *events.PartProgress:
		return r.Recheck
	}
	return 0
}

// rechecked notes what a later look found and removed, once: only the report of the next look acts. Where something was found,
// something may land yet, and it is looked at another time.
func (w *reportWorld) rechecked(k ErasureKey, number int, item any) {
	e, known := w.works[k]
	d := w.records[k.Deletion]
	if !known || !e.Done || e.CheckAt.IsZero() || number != e.Rechecks+1 {
		return
	}
	switch r := item.(type) {
	case *events.PartProgress:
		e.CheckAt = w.now.Add(w.s.policy.ResendAfter)
		if r.NextTry != nil {
			e.CheckAt = r.NextTry.UTC()
		}
		if r.Status == events.ProgressBlocked { // nobody waits for it
			e.CheckAt = later(e.CheckAt, w.now.Add(w.s.policy.RecheckAfter))
		}
	case *events.AssetErased:
		e.Rechecks, e.CheckAt = number, time.Time{}
		for _, p := range r.Parts {
			if p.Documents+p.Objects > 0 {
				e.CheckAt = w.now.Add(w.s.policy.RecheckAfter)
				w.tellLate(e, d, p)
			}
		}
		w.removed = append(w.removed, flagIDs(w.flags[k])...)
	}
	w.works[k], w.changedE[k] = e, true
}

// tellLate writes into the trail of the asset, whatever has become of it, what was found late.
func (w *reportWorld) tellLate(e Erasure, d DeletionRecord, found events.PartEvidence) {
	w.s.log.Warn("something landed after a deletion, and was removed", "deletion", e.Deletion, "asset", e.Asset, "part", found.Part,
		"documents", found.Documents, "objects", found.Objects, "bytes", found.Bytes)
	evidence, err := json.Marshal(found)
	if err != nil { // a struct of strings, numbers and a time always encodes
		panic(err)
	}
	line := Entry{Type: events.TypePartErased, Deletion: e.Deletion, Generation: e.Generation, By: d.RequestedBy, Reason: d.Reason,
		Part: found.Part, Evidence: evidence, Detail: lateDetail}
	if _, there := w.nodes[e.Asset]; there {
		w.tell(e.Asset, line)
		return
	}
	w.purged[e.Asset]++ // without a node the unique sequence decides, and a transaction that comes too late runs again
	line.ID, line.Asset, line.Sequence, line.Time = newID(), e.Asset, w.purged[e.Asset], w.now
	w.entries = append(w.entries, line)
}

// readPurged finds where the trails of assets go on whose tombstones were purged before their last look.
func (w *reportWorld) readPurged(ctx context.Context, items []any) (err error) {
	var purged []string
	for _, item := range items {
		k := reportKey(item)
		if _, there := w.nodes[k.Asset]; !there && recheckOf(item) > 0 {
			purged = append(purged, k.Asset)
		}
	}
	w.purged, err = w.tx.LastSequences(ctx, distinct(purged))
	return err
}

// stillDeleted answers for a recheck: the erasure is done, this is its next look, and the parts are those at whose places there
// can be nothing of anybody else. While the asset is still deleted by this deletion, that is every place but one made of
// attributes that another asset has claimed since. Once it was created again, or its part written again, only places that
// hold the generation are the old one's alone.
func (s *Service) stillDeleted(q events.Question, n Node, e Erasure, known bool, holders map[string]string) events.Answer {
	if !known || !e.Done || e.Generation != q.Generation || q.Recheck != e.Rechecks+1 {
		return events.Answer{Why: "this look is over, or was never to be"}
	}
	out := events.Answer{Erase: true, Owner: e.Owner, Kind: e.Kind, Attributes: n.Attributes, Only: []string{}}
	kind, ok := s.policy.Kind(e.Kind)
	if !ok {
		return out // nothing of the kind was left when the policy lost it
	}
	deleted := n.Status == Deleted && n.Deletion == e.Deletion && n.Generation == e.Generation
	for _, step := range e.Steps {
		part, ok := kind.Part(step.Part)
		if !ok || step.Forced != "" || step.Generation != askedGeneration(q, step.Part) {
			continue
		}
		if part.OfGeneration() || deleted && unclaimed(part, n, holders) {
			out.Only = append(out.Only, step.Part)
		}
	}
	return out
}

// askedGeneration is the generation in which a question is about a part; empty when it is not.
func askedGeneration(q events.Question, part string) string {
	if len(q.Parts) == 0 {
		return q.Generation
	}
	return q.Parts[part]
}

// unclaimed tells whether no other asset has claimed a place of the part since it was given back.
func unclaimed(part *policy.Part, n Node, holders map[string]string) bool {
	claims, err := part.Claims(subjectOf(n))
	for _, place := range claims {
		if holder, taken := holders[place]; taken && holder != n.ID {
			return false
		}
	}
	return err == nil
}

// holders reads who holds the places made of attributes that rechecks ask about.
func (s *Service) holders(ctx context.Context, tx Tx, questions []events.Question, nodes map[string]Node) (map[string]string, error) {
	var places []string
	for _, q := range questions {
		n := nodes[q.Asset]
		if kind, ok := s.policy.Kind(n.Kind); q.Recheck > 0 && ok {
			claims, err := kind.Claims(subjectOf(n))
			if err == nil { // else a place cannot be worked out any more, and nobody looks there
				places = append(places, claims...)
			}
		}
	}
	return tx.Places(ctx, distinct(places))
}
