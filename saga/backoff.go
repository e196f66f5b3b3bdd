package saga

import (
	"math/rand/v2"
	"time"
)

// Backoff says how long to wait before the next try. The zero value has the defaults below.
type Backoff struct {
	// First is the longest wait after the first failure; each further one doubles it. Default 1.25 s, so that with the
	// spread it is 1 s at least.
	First time.Duration
	// Max bounds the waits. A message that fails again after a wait of Max is parked. Default 1 min.
	Max time.Duration
	// ParkFor is how long what is parked rests when nothing tells better. Default 5 min.
	ParkFor time.Duration
	// ParkMax bounds the rest when the end of the obstacle is known: it may go earlier than it said. Default 1 h.
	ParkMax time.Duration
	// Random gives numbers in [0, 1); nil: from the runtime.
	Random func() float64
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// spread is the part of each wait that is left to chance, so that what failed together does not come back together.
const spread = 0.2

// Delay is the wait after the attempt-th failure, counted from 1: First, doubled each time up to Max, less up to a fifth.
func (b Backoff) Delay(attempt int) time.Duration {
	return b.shorten(b.step(attempt))
}

// Exhausted tells that the wait before this attempt was of full length already.
func (b Backoff) Exhausted(attempt int) bool {
	return attempt > 1 && b.step(attempt-1) == b.max()
}

// NextTry is when something parked is tried again: when its handler said, or when the obstacle ends but in ParkMax at the
// latest, or else after ParkFor (a little more by chance). p is nil for what failed too often.
func (b Backoff) NextTry(p *Parked) time.Time {
	now := b.now().UTC()
	rest := or(b.ParkFor, 5*time.Minute)
	if p != nil && p.NextTry != nil {
		return p.NextTry.UTC()
	}
	if p != nil && p.Until != nil && p.Until.After(now) {
		return now.Add(min(p.Until.Sub(now), or(b.ParkMax, time.Hour)))
	}
	return now.Add(rest + rest - b.shorten(rest))
}

// step is the wait after the attempt-th failure without chance.
func (b Backoff) step(attempt int) time.Duration {
	wait := or(b.First, 1250*time.Millisecond)
	for range attempt - 1 {
		if wait >= b.max() {
			break
		}
		wait *= 2
	}
	return min(wait, b.max())
}

func (b Backoff) shorten(wait time.Duration) time.Duration {
	random := b.Random
	if random == nil {
		random = rand.Float64
	}
	return wait - time.Duration(spread*random()*float64(wait))
}

func (b Backoff) max() time.Duration { return or(b.Max, time.Minute) }

func (b Backoff) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

// or is the value, or the default where it is zero.
func or[T comparable](value, byDefault T) T {
	var zero T
	if value == zero {
		return byDefault
	}
	return value
}
