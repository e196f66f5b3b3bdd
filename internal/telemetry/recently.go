package telemetry

import (
	"context"
	"sync"
	"time"
)

const (
	// recentFor is how long one reading of the graph serves: several scrapers cost it no more than one.
	recentFor = 2 * time.Second
	// readTimeout bounds a reading, so that a graph that is away does not hold up a scrape.
	readTimeout = 3 * time.Second
)

// recently reads something, unless it did a moment ago.
type recently[T any] struct {
	read func(context.Context) (T, error)

	mu   sync.Mutex
	at   time.Time
	last T
	err  error
}

func (r *recently[T]) now() (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < recentFor {
		return r.last, r.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	r.last, r.err = r.read(ctx)
	r.at = time.Now()
	return r.last, r.err
}
