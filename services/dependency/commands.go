package dependency

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// source names this service in messages.
const source = "/tombstone/dependency"

// Commands is the outbox of erase commands: the command flags of the graph. It implements saga.Outbox.
type Commands struct{ s *Service }

// Commands gives the outbox for the relay.
func (s *Service) Commands() *Commands { return &Commands{s} }

// Claim takes flags that are due (R1). A deletion that is only scheduled passes its point of no return here, in the same
// transaction as the claim and before anything is published (T2).
func (c *Commands) Claim(ctx context.Context, max int, hold time.Duration) ([]saga.Flag, error) {
	s := c.s
	filter := CommandFilter{DueBy: s.now(), FreeAt: s.now(), Limit: max}
	var found []Command
	err := s.graph.View(ctx, func(tx Tx) error {
		_, stop, err := paused(ctx, tx)
		if err == nil && !stop {
			found, err = tx.Commands(ctx, filter)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	var flags []saga.Flag
	err = s.graph.Update(ctx, func(tx Tx) error {
		flags = nil
		claimed, deletions, erasures, err := s.claim(ctx, tx, found, hold)
		if err == nil {
			flags = s.flags(claimed, deletions, erasures)
		}
		return err
	})
	return flags, err
}

// claim looks at the flags again under the locks of their assets and deletions, and takes those that are still free.
func (s *Service) claim(ctx context.Context, tx Tx, found []Command, hold time.Duration) ([]Command, map[string]DeletionRecord, map[ErasureKey]Erasure, error) {
	now := s.now()
	ids, keys, locks := commandIDs(found)
	w := newWorld(tx, now)
	if err := w.load(ctx, locks); err != nil {
		return nil, nil, nil, err
	}
	if _, stop, err := paused(ctx, tx); stop || err != nil {
		return nil, nil, nil, err
	}
	commands, err := tx.Commands(ctx, CommandFilter{IDs: ids, DueBy: now, FreeAt: now})
	if err != nil {
		return nil, nil, nil, err
	}
	deletions, err := tx.Deletions(ctx, locks.Deletions)
	if err != nil {
		return nil, nil, nil, err
	}
	erasures, err := tx.Erasures(ctx, keys)
	if err != nil {
		return nil, nil, nil, err
	}
	var stale []string
	begun := map[string]bool{}
	for _, c := range commands {
		d, e := deletions[c.Deletion], erasures[ErasureKey{c.Deletion, c.Asset}]
		if !wants(c, d, e) {
			stale = append(stale, c.ID)
			continue
		}
		if d.Status == Scheduled {
			d.Status, begun[d.ID] = Deleting, true
			deletions[d.ID] = d
		}
		c.ClaimedBy, c.ClaimedUntil = s.cfg.Replica, now.Add(hold)
		e.CheckAt = now.Add(s.policy.ResendAfter)
		w.commands, w.erasures = append(w.commands, c), append(w.erasures, e)
	}
	for id := range begun {
		w.deletions = append(w.deletions, deletions[id])
	}
	if err := w.tx.RemoveCommands(ctx, stale); err != nil {
		return nil, nil, nil, err
	}
	return w.commands, deletions, erasures, w.flush(ctx)
}

// wants tells whether a flag still has a purpose.
func wants(c Command, d DeletionRecord, e Erasure) bool {
	if c.Cause == causeRecheck {
		return e.Done && !e.CheckAt.IsZero()
	}
	return !e.Done && (d.Status == Scheduled || d.Status == Deleting)
}

func commandIDs(commands []Command) (ids []string, keys []ErasureKey, locks Locks) {
	for _, c := range commands {
		ids = append(ids, c.ID)
		keys = append(keys, ErasureKey{c.Deletion, c.Asset})
		locks.Assets = append(locks.Assets, c.Asset)
		locks.Deletions = append(locks.Deletions, c.Deletion)
	}
	locks.Assets, locks.Deletions = distinct(locks.Assets), distinct(locks.Deletions)
	return ids, keys, locks
}

// index makes the look-ups that flags needs from lists.
func index(ds []DeletionRecord, es []Erasure) (map[string]DeletionRecord, map[ErasureKey]Erasure) {
	deletions, erasures := map[string]DeletionRecord{}, map[ErasureKey]Erasure{}
	for _, d := range ds {
		deletions[d.ID] = d
	}
	for _, e := range es {
		erasures[ErasureKey{e.Deletion, e.Asset}] = e
	}
	return deletions, erasures
}

// flags turns claimed commands into messages. What a command says comes from its deletion and erasure, never from the
// asset's present state, which may be a later generation.
func (s *Service) flags(commands []Command, deletions map[string]DeletionRecord, erasures map[ErasureKey]Erasure) []saga.Flag {
	var flags []saga.Flag
	for _, c := range commands {
		d, e := deletions[c.Deletion], erasures[ErasureKey{c.Deletion, c.Asset}]
		data := events.Erase{Deletion: d.ID, Asset: e.Asset, Kind: e.Kind, Owner: e.Owner, Generation: e.Generation, Parts: e.wanted(),
			By: d.RequestedBy, Reason: d.Reason}
		if c.Cause == causeRecheck {
			data.Recheck = e.Rechecks + 1
		} else {
			data.Tried = e.tried()
		}
		payload, err := events.Encode(events.Envelope{ID: c.ID, Source: source, Type: events.TypeErase, Time: s.now(), TraceParent: d.TraceParent}, data)
		if err != nil {
			s.log.Error("command cannot be encoded", "deletion", d.ID, "asset", e.Asset, "error", err)
			continue
		}
		flags = append(flags, saga.Flag{ID: c.ID, Replace: c.Replace, Message: saga.Message{Subject: s.cfg.Names.Command(d.ID, e.Asset), Data: payload}})
	}
	return flags
}

// Sent notes that the broker has the commands. The flags are removed by the next completion of their asset or within
// two seconds by RunSent, whichever comes first, so that most flags cost no transaction of their own.
func (c *Commands) Sent(_ context.Context, ids []string) error {
	c.s.sent.add(ids, c.s.now())
	return nil
}

// tried is how often the commands for what is not erased yet were tried, as far as was reported.
func (e Erasure) tried() (most int) {
	for _, s := range e.Steps {
		if s.Status != StepErased {
			most = max(most, s.Attempts)
		}
	}
	return most
}

// wanted is which parts a command names: as the erasure began, but without those that were given up since. Nothing of ours
// touches them any more.
func (e Erasure) wanted() map[string]string {
	left := map[string]string{}
	for _, s := range e.Steps {
		if s.Forced == "" {
			left[s.Part] = s.Generation
		}
	}
	if len(left) == len(e.Steps) {
		return e.Parts
	}
	return left
}
