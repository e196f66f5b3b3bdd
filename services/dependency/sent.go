package dependency

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// sentDelay is how long the removal of a flag may wait for a completion that clears it in passing (DESIGN section 3).
const sentDelay = 2 * time.Second

// sentBuffer holds the ids of flags whose command the broker has. Losing it is harmless: the flags are published again.
type sentBuffer struct {
	mu  sync.Mutex
	ids map[string]time.Time // when the broker took it
}

func newSentBuffer() *sentBuffer { return &sentBuffer{ids: map[string]time.Time{}} }

func (b *sentBuffer) add(ids []string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		b.ids[id] = at
	}
}

// peek tells when flags were sent; those unknown are absent.
func (b *sentBuffer) peek(ids []string) map[string]time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]time.Time{}
	for _, id := range ids {
		if at, ok := b.ids[id]; ok {
			out[id] = at
		}
	}
	return out
}

func (b *sentBuffer) all() map[string]time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.ids)
}

func (b *sentBuffer) forget(ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		delete(b.ids, id)
	}
}

// RunSent removes the flags of sent commands in groups until ctx ends, and once more then.
func (s *Service) RunSent(ctx context.Context) error {
	tick := time.NewTicker(sentDelay / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), sentDelay)
			defer cancel()
			return s.removeSent(last)
		case <-tick.C:
			if err := s.removeSent(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("sent flags are not removed yet", "error", err)
			}
		}
	}
}

// removeSent removes the flags in the buffer, in transactions of bounded size.
func (s *Service) removeSent(ctx context.Context) error {
	sent := s.sent.all()
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(sent)), s.cfg.MaxBatch) {
		err := s.graph.Update(ctx, func(tx Tx) error {
			commands, err := tx.Commands(ctx, CommandFilter{IDs: ids})
			if err != nil || len(commands) == 0 {
				return err
			}
			_, _, locks := commandIDs(commands)
			return s.markSent(ctx, tx, commands, locks.Deletions, sent)
		})
		if err != nil {
			return err
		}
		s.sent.forget(ids)
	}
	return nil
}

// markSent removes flags and notes on their deletions when the first command went out.
func (s *Service) markSent(ctx context.Context, tx Tx, commands []Command, deletions []string, sent map[string]time.Time) error {
	if err := tx.Lock(ctx, Locks{Deletions: deletions}); err != nil {
		return err
	}
	records, err := tx.Deletions(ctx, deletions)
	if err != nil {
		return err
	}
	var ids []string
	var changed []DeletionRecord
	for _, c := range commands {
		ids = append(ids, c.ID)
		if d := records[c.Deletion]; d.ID != "" && d.SentAt.IsZero() {
			d.SentAt = sent[c.ID]
			records[d.ID] = d
			changed = append(changed, d)
		}
	}
	if err := tx.SaveDeletions(ctx, changed); err != nil {
		return err
	}
	return tx.RemoveCommands(ctx, ids)
}
