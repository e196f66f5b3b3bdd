package dependency

import (
	"context"
	"log/slog"

	"github.com/tombstone-project/tombstone/events"
)

// logTransitions writes one line for each transition that was committed: ids and who, never reasons or contents. What needs a
// look is a warning; parts and assets on the way, of which there are many, are for level debug.
func (s *Service) logTransitions(entries []Entry) {
	for _, e := range entries {
		level, what := transition(e.Type)
		told := []any{"deletion", e.Deletion, "asset", e.Asset, "generation", e.Generation, "by", e.By}
		if e.Part != "" {
			told = append(told, "part", e.Part)
		}
		s.log.Log(context.Background(), level, what, told...)
	}
}

// transition is how the log tells of an entry of the trail.
func transition(eventType string) (slog.Level, string) {
	switch eventType {
	case events.TypeDeletionRequested:
		return slog.LevelInfo, "deletion requested"
	case events.TypeDeletionCancelled:
		return slog.LevelInfo, "deletion cancelled"
	case events.TypeDeletionCompleted:
		return slog.LevelInfo, "deletion completed"
	case events.TypeDeletionStalled:
		return slog.LevelWarn, "deletion is stalled"
	case events.TypeDeletionBlocked:
		return slog.LevelWarn, "deletion is blocked"
	case events.TypePartErased:
		return slog.LevelDebug, "part erased"
	case events.TypeAssetErased:
		return slog.LevelDebug, "asset erased"
	}
	return slog.LevelInfo, eventType
}
