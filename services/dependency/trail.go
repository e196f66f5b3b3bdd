package dependency

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// Feed is the outbox of audit events: entries of the trail that are not in the feed yet. It implements saga.Outbox.
// Entries have no claims: the replica that wrote one publishes it at once, and any relay takes it when it is still unsent
// after ClaimFor. So an event may come twice; its id tells.
type Feed struct{ s *Service }

// Feed gives the outbox for the relay.
func (s *Service) Feed() *Feed { return &Feed{s} }

// Claim gives unsent entries that the replica which wrote them should have published by now.
func (f *Feed) Claim(ctx context.Context, max int, _ time.Duration) ([]saga.Flag, error) {
	var entries []Entry
	var deletions map[string]DeletionRecord
	err := f.s.graph.View(ctx, func(tx Tx) (err error) {
		if entries, err = tx.Unsent(ctx, f.s.now().Add(-f.s.cfg.ClaimFor), max); err != nil {
			return err
		}
		ids := make([]string, len(entries))
		for i, e := range entries {
			ids[i] = e.Deletion
		}
		deletions, err = tx.Deletions(ctx, distinct(ids))
		return err
	})
	return f.s.eventFlags(entries, deletions), err
}

// Sent takes the mark off entries that the feed has.
func (f *Feed) Sent(ctx context.Context, ids []string) error {
	return f.s.graph.Update(ctx, func(tx Tx) error { return tx.MarkSent(ctx, ids) })
}

// handOverEntries tells of what a transaction has committed: the log, and the feed. deletions are those of the entries, as far
// as they are at hand; they have the trace.
func (s *Service) handOverEntries(entries []Entry, deletions []DeletionRecord) {
	s.logTransitions(entries)
	byID, _ := index(deletions, nil)
	if flags := s.eventFlags(entries, byID); s.cfg.SendEvents != nil && len(flags) > 0 {
		s.cfg.SendEvents(flags)
	}
}

// eventFlags turns entries into messages; the entry's id is the event's, so that a repeat can be told.
func (s *Service) eventFlags(entries []Entry, deletions map[string]DeletionRecord) []saga.Flag {
	flags := make([]saga.Flag, 0, len(entries))
	for _, e := range entries {
		data := events.AuditEvent{Sequence: e.Sequence, Deletion: e.Deletion, Asset: e.Asset, Generation: e.Generation, By: e.By,
			Reason: e.Reason, Part: e.Part, Detail: e.Detail}
		if len(e.Evidence) > 0 {
			data.Evidence = new(events.PartEvidence)
			if err := json.Unmarshal(e.Evidence, data.Evidence); err != nil {
				s.log.Error("evidence in the trail cannot be read", "asset", e.Asset, "sequence", e.Sequence, "error", err)
				continue
			}
		}
		payload, err := events.Encode(events.Envelope{ID: e.ID, Source: source, Type: e.Type, Time: e.Time,
			TraceParent: deletions[e.Deletion].TraceParent}, data)
		if err != nil {
			s.log.Error("event cannot be encoded", "asset", e.Asset, "sequence", e.Sequence, "error", err)
			continue
		}
		flags = append(flags, saga.Flag{ID: e.ID, Message: saga.Message{Subject: s.cfg.Names.Event(e.Type, e.Asset), Data: payload}})
	}
	return flags
}

// republishPage bounds one transaction of RepublishFeed.
const republishPage = 500

// RepublishFeed marks every entry of the policy's events.max_age as unsent again: the feed was lost with the broker, and the
// graph keeps the trail. Consumers tell repeats by the event's id.
func (s *Service) RepublishFeed(ctx context.Context) error {
	since := s.now().Add(-s.policy.Events.MaxAge)
	for after := ""; ; {
		var last string
		err := s.graph.Update(ctx, func(tx Tx) (err error) {
			last, err = tx.MarkUnsent(ctx, since, after, republishPage)
			return err
		})
		if err != nil || last == "" {
			return err
		}
		after = last
	}
}
