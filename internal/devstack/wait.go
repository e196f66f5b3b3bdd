package devstack

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// startLimit is how long a server may take until it answers.
const startLimit = 30 * time.Second

// await waits for done or for the end of ctx.
func await(ctx context.Context, done <-chan struct{}, operation string) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", operation, ctx.Err())
	}
}

// quiet gives a logger that passes only this level and above; nil becomes a logger that drops all.
func quiet(l *slog.Logger, level slog.Level) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(atLeast{Handler: l.Handler(), level: level})
}

// atLeast is a handler with a lower bound of its own.
type atLeast struct {
	slog.Handler
	level slog.Level
}

func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{Handler: h.Handler.WithAttrs(attrs), level: h.level}
}

func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{Handler: h.Handler.WithGroup(name), level: h.level}
}
