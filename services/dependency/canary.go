package dependency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

const (
	// canaryActor is who creates and deletes canaries.
	canaryActor = "canary"
	// settingCanary keeps the canary under way, settingCanaryTurn when the last one began.
	settingCanary, settingCanaryTurn = "canary", "canary.turn"
	canaryTimeout                    = time.Minute
)

// canary is what is remembered of the canaries: one at a time, and nothing of those before but when the last good one ended.
type canary struct {
	Since time.Time `json:"since"`           // when there was none yet
	Good  time.Time `json:"good,omitzero"`   // when the last one that went through had ended
	Asset string    `json:"asset,omitempty"` // the last one
	// Planted: the stores took its document and its object.
	Planted bool `json:"planted,omitempty"`
}

// RunCanary lets a canary go through by the policy's schedule until ctx ends; not at all when that has none.
func (s *Service) RunCanary(ctx context.Context) error {
	every := s.policy.Canary.Every
	if !s.hasCanary() {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(max(shortestTick, min(time.Minute, every/2)))
	defer tick.Stop()
	for {
		due, err := s.takeTurn(ctx, settingCanaryTurn, every)
		if due && err == nil {
			err = s.FlyCanary(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("the canary does not go through", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (s *Service) hasCanary() bool {
	return s.policy.Canary.Every > 0 && s.policy.CanaryKind() != nil && s.cfg.Plant != nil
}

// FlyCanary lets one canary go the whole way: it creates an asset, has a document and an object written for it, and asks for
// its deletion, all like a user. Nobody waits for the end: the next call looks, forgets the one before without a trace when it
// has gone through, and else leaves it as it is, so that there is one at most. What the stores refuse is deleted all the same,
// so that `explain` of its deletion tells what is wrong with them.
func (s *Service) FlyCanary(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, canaryTimeout)
	defer cancel()
	kind := s.policy.CanaryKind().Name
	ctx = WithCaller(ctx, Caller{Subject: canaryActor, Owner: kind, Operator: true})
	last, ended, err := s.endCanary(ctx)
	if err != nil {
		return err
	}
	if !ended {
		return s.askForCanarysDeletion(ctx, last.Asset)
	}
	next := canary{Since: last.Since, Good: last.Good, Asset: kind + "-" + newID()}
	if err := s.saveCanary(ctx, next); err != nil {
		return err
	}
	if _, _, err := s.PutAsset(ctx, next.Asset, Put{Kind: kind}); err != nil {
		return fmt.Errorf("create it: %w", err)
	}
	planted := s.cfg.Plant(ctx, next.Asset)
	if next.Planted = planted == nil; next.Planted {
		if err := s.saveCanary(ctx, next); err != nil {
			return err
		}
	} else {
		planted = fmt.Errorf("write its content: %w", planted)
	}
	return errors.Join(planted, s.askForCanarysDeletion(ctx, next.Asset))
}

// askForCanarysDeletion repeats nothing: of a canary that is being deleted, it says that it is.
func (s *Service) askForCanarysDeletion(ctx context.Context, id string) error {
	d, err := s.Delete(ctx, id, DeleteRequest{Reason: "canary"})
	if err != nil {
		return fmt.Errorf("delete it: %w", err)
	}
	if due := s.now().Sub(d.DueAt); d.Status != Deleted && due > s.policy.Canary.Every {
		return fmt.Errorf("the deletion of %s is not done after %s; look at: tombstone explain %s", id, due.Round(time.Second), d.ID)
	}
	return nil
}

// endCanary tells whether there is no canary under way. One that has ended is forgotten, in one transaction with the note that
// it did: node, deletion, and trail.
func (s *Service) endCanary(ctx context.Context) (c canary, ended bool, err error) {
	err = s.graph.Update(ctx, func(tx Tx) error {
		seen, locked, err := s.lockCanary(ctx, tx)
		c, ended = seen.canary, seen.node.ID == "" || locked && seen.node.Status == Deleted
		if err != nil || !ended {
			return err
		}
		c = canary{Since: c.Since, Good: seen.good()}
		if c.Since.IsZero() {
			c.Since = s.now()
		}
		if seen.node.ID != "" {
			if err := s.forget(ctx, tx, seen); err != nil {
				return err
			}
		}
		return writeCanary(ctx, tx, c)
	})
	return c, ended, err
}

// lockCanary reads what to lock, locks it, and reads it again: only that decides. It is not locked when another replica has
// begun the next canary meanwhile, or asked for the deletion of this one; so it has not ended, either.
func (s *Service) lockCanary(ctx context.Context, tx Tx) (seen canarySeen, locked bool, err error) {
	before, err := s.readCanary(ctx, tx)
	if err != nil || before.node.ID == "" {
		return before, false, err
	}
	locks := Locks{Assets: []string{before.node.ID}}
	if before.node.Deletion != "" {
		locks.Deletions = []string{before.node.Deletion}
	}
	if err := tx.Lock(ctx, locks); err != nil {
		return before, false, err
	}
	seen, err = s.readCanary(ctx, tx)
	return seen, seen.node.ID == before.node.ID && seen.node.Deletion == before.node.Deletion, err
}

// forget removes all that the graph knows of a canary, which is locked, the command of a later look included.
func (s *Service) forget(ctx context.Context, tx Tx, seen canarySeen) error {
	if err := tx.DropCommands(ctx, []string{seen.node.Deletion}); err != nil {
		return err
	}
	if err := tx.RemoveNodes(ctx, []string{seen.node.ID}); err != nil {
		return err
	}
	return tx.Forget(ctx, []string{seen.node.ID}, []string{seen.node.Deletion})
}

// canarySeen is the last canary as the graph has it.
type canarySeen struct {
	canary
	node     Node
	deletion DeletionRecord
	erasure  Erasure
}

// good is when the last canary that went through had ended: written, and seen to be absent afterwards, not given up.
func (c canarySeen) good() time.Time {
	if !c.Planted || c.deletion.Status != Deleted {
		return c.Good
	}
	for _, step := range c.erasure.Steps {
		if step.Forced != "" {
			return c.Good
		}
	}
	return c.deletion.CompletedAt
}

func (s *Service) readCanary(ctx context.Context, tx Tx) (seen canarySeen, err error) {
	if seen.canary, err = readState[canary](ctx, tx, settingCanary); err != nil || seen.Asset == "" {
		return seen, err
	}
	nodes, err := tx.Nodes(ctx, []string{seen.Asset})
	if err != nil {
		return seen, err
	}
	seen.node = nodes[seen.Asset]
	if seen.node.Deletion == "" {
		return seen, nil
	}
	deletions, err := tx.Deletions(ctx, []string{seen.node.Deletion})
	if err != nil {
		return seen, err
	}
	key := ErasureKey{seen.node.Deletion, seen.Asset}
	erasures, err := tx.Erasures(ctx, []ErasureKey{key})
	seen.deletion, seen.erasure = deletions[seen.node.Deletion], erasures[key]
	return seen, err
}

func (s *Service) saveCanary(ctx context.Context, c canary) error {
	return s.graph.Update(ctx, func(tx Tx) error { return writeCanary(ctx, tx, c) })
}

func writeCanary(ctx context.Context, tx Tx, c canary) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return tx.SaveSetting(ctx, settingCanary, string(b))
}

// canaryAge is the time since the last canary that went through had ended; since the first began, when none has.
func (s *Service) canaryAge(ctx context.Context, tx Tx, now time.Time) (time.Duration, error) {
	seen, err := s.readCanary(ctx, tx)
	if good := seen.good(); !good.IsZero() {
		return age(now, good), err
	}
	return age(now, seen.Since), err
}

// refuseInternal keeps the kinds of the product's own from others.
func refuseInternal(by Caller, item putItem) error {
	if item.kind.Internal && by.Subject != canaryActor {
		return problem.New(problem.UnknownKind, "assets of kind %q are made by Tombstone alone", item.kind.Name).At("kind")
	}
	return nil
}
