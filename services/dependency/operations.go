package dependency

import (
	"context"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
)

// Pending lists command flags, oldest first: commands that the broker is not known to have. A flag that has just been
// sent may stay for two seconds.
func (s *Service) Pending(ctx context.Context, cursor string) (Page[PendingFlag], error) {
	if _, err := operator(ctx); err != nil {
		return Page[PendingFlag]{}, err
	}
	after, err := decodeCursor[*Command]("pending", cursor, nil)
	if err != nil {
		return Page[PendingFlag]{}, err
	}
	var commands []Command
	err = s.graph.View(ctx, func(tx Tx) (err error) {
		commands, err = tx.Commands(ctx, CommandFilter{After: after, Limit: defaultLimit + 1})
		return err
	})
	if err != nil {
		return Page[PendingFlag]{}, err
	}
	cut := page(commands, defaultLimit, func(c Command) string { return encodeCursor("pending", &Command{ID: c.ID, Since: c.Since}) })
	sent := s.sent.peek(flagIDs(cut.Items))
	out := Page[PendingFlag]{Items: []PendingFlag{}, NextCursor: cut.NextCursor}
	for _, c := range cut.Items {
		if _, ok := sent[c.ID]; !ok {
			out.Items = append(out.Items, PendingFlag{Deletion: c.Deletion, Asset: c.Asset, Since: c.Since, DueAt: c.DueAt,
				Claimed: c.ClaimedUntil.After(s.now()), Cause: c.Cause})
		}
	}
	return out, nil
}

// check refuses a Drive that does not say what.
func (d Drive) check() error {
	switch {
	case d.All == (len(d.Deletions) > 0):
		return problem.New(problem.InvalidRequest, `say what to drive: {"deletions": [ID, …]} or {"all": true}`)
	case d.OlderThan < 0:
		return problem.New(problem.InvalidRequest, "older_than cannot be negative").At("older_than")
	case d.OlderThan > 0 && !d.All:
		return problem.New(problem.InvalidRequest, `older_than goes with "all": true`).At("older_than")
	}
	return nil
}

// Replay publishes pending flags now, whoever has claimed them: a replay is really delivered. Flags whose deletion is
// only scheduled stay until they are due.
func (s *Service) Replay(ctx context.Context, d Drive) (Driven, error) {
	if _, err := operator(ctx); err != nil {
		return Driven{}, err
	}
	if err := d.check(); err != nil {
		return Driven{}, err
	}
	driven := map[string]bool{}
	filter := CommandFilter{Deletions: d.Deletions, DueBy: s.now(), OlderThan: s.now().Add(-d.OlderThan), Limit: s.cfg.MaxBatch}
	for {
		var found []Command
		var flags []saga.Flag
		err := s.graph.Update(ctx, func(tx Tx) (err error) {
			flags = nil
			if found, err = tx.Commands(ctx, filter); err != nil || len(found) == 0 {
				return err
			}
			freed := slices.Clone(found)
			for i := range freed {
				freed[i].ClaimedBy, freed[i].ClaimedUntil = "", time.Time{}
			}
			if err := tx.SaveCommands(ctx, freed); err != nil {
				return err
			}
			claimed, deletions, erasures, err := s.claim(ctx, tx, freed, s.cfg.ClaimFor)
			flags = s.flags(claimed, deletions, erasures)
			for _, c := range claimed {
				driven[c.Deletion] = true
			}
			return err
		})
		if err != nil {
			return Driven{Driven: len(driven)}, err
		}
		if len(flags) > 0 {
			s.cfg.Meter.Republished(causeReplay, len(flags))
		}
		if s.cfg.SendCommands != nil && len(flags) > 0 {
			s.cfg.SendCommands(flags)
		}
		if len(found) < filter.Limit {
			return Driven{Driven: len(driven)}, nil
		}
		filter.After = &found[len(found)-1]
	}
}
