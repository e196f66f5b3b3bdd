package dependency

import (
	"context"
	"encoding/json"
	"time"
)

// settingStreams keeps when the broker's streams were made, as last seen.
const settingStreams = "streams.made"

type streamsMade struct {
	Commands time.Time `json:"commands"`
	Events   time.Time `json:"events"`
}

// NoteStreams is told when the broker's streams were made. Where that is not what the graph remembers, the broker lost
// what it held, whoever made the stream anew and whether or not we were up: then every command under way is flagged
// again (R2 at once), and the feed is published again. What the graph remembers is changed last, so a crash repeats it.
func (s *Service) NoteStreams(ctx context.Context, commands, events time.Time) error {
	now := streamsMade{commands.UTC(), events.UTC()}
	known, err := s.knownStreams(ctx)
	if err != nil || known == now {
		return err
	}
	first := known == streamsMade{} // then nothing was sent yet
	if !first && !known.Commands.Equal(now.Commands) {
		s.log.Warn("the stream of commands is new; what is under way is sent again", "made", now.Commands)
		if err := s.ResendLost(ctx); err != nil {
			return err
		}
		if s.cfg.Nudge != nil {
			s.cfg.Nudge()
		}
	}
	if !first && !known.Events.Equal(now.Events) {
		s.log.Warn("the stream of events is new; the feed is published again", "made", now.Events)
		if err := s.RepublishFeed(ctx); err != nil {
			return err
		}
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return s.graph.Update(ctx, func(tx Tx) error { return tx.SaveSetting(ctx, settingStreams, string(text)) })
}

func (s *Service) knownStreams(ctx context.Context) (known streamsMade, err error) {
	err = s.graph.View(ctx, func(tx Tx) (err error) {
		known, err = readState[streamsMade](ctx, tx, settingStreams)
		return err
	})
	return known, err
}
