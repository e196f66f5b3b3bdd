package dependency

import (
	"context"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/events"
)

const (
	// activityMinutes is how far back activity is told.
	activityMinutes = 60
	// activityLimit is how many entries of a minute are looked at; what lies beyond is not counted.
	activityLimit = 50_000
	// lateCommit is how long after an entry got its id it may become visible.
	lateCommit = 10 * time.Second
	// sampleEvery is between two looks at the oldest flag.
	sampleEvery = 15 * time.Second
)

// activity remembers minutes that are over, so that each is counted about once, and how old the oldest flag was. It is safe
// for concurrent use.
type activity struct {
	mu      sync.Mutex
	counted map[time.Time]Minute
	oldest  map[time.Time]time.Duration
}

func newActivity() *activity {
	return &activity{counted: map[time.Time]Minute{}, oldest: map[time.Time]time.Duration{}}
}

// lastHour gives the minutes up to now, which is the machine's time: ids are made of it.
func (a *activity) lastHour(ctx context.Context, g Graph, now time.Time) ([]Minute, error) {
	minutes := a.known(now)
	err := g.View(ctx, func(tx Tx) error {
		for i, m := range minutes {
			if m.Requested >= 0 {
				continue
			}
			counts, err := tx.CountEntries(ctx, idAt(m.At), idAt(m.At.Add(time.Minute)), activityLimit)
			if err != nil {
				return err
			}
			minutes[i].Requested, minutes[i].Completed = counts[events.TypeDeletionRequested], counts[events.TypeDeletionCompleted]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.keep(minutes, now)
	return minutes, nil
}

// known gives the minutes of the hour, Requested -1 where it is still to be counted, and forgets what is older.
func (a *activity) known(now time.Time) []Minute {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := now.UTC().Truncate(time.Minute)
	first := last.Add(-(activityMinutes - 1) * time.Minute)
	var minutes []Minute
	for at := first; !at.After(last); at = at.Add(time.Minute) {
		m, ok := a.counted[at]
		if !ok {
			m = Minute{At: at, Requested: -1}
		}
		if age, ok := a.oldest[at]; ok {
			seconds := age.Seconds()
			m.OldestPending = &seconds
		}
		minutes = append(minutes, m)
	}
	for at := range a.counted {
		if at.Before(first) {
			delete(a.counted, at)
		}
	}
	return minutes
}

// keep remembers minutes in which nothing can become visible any more.
func (a *activity) keep(minutes []Minute, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range minutes {
		if now.After(m.At.Add(time.Minute + lateCommit)) {
			m.OldestPending = nil
			a.counted[m.At] = m
		}
	}
}

// note remembers the age of the oldest flag, the greatest of each minute.
func (a *activity) note(now time.Time, age time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := now.UTC().Truncate(time.Minute)
	a.oldest[at] = max(a.oldest[at], age)
	for old := range a.oldest {
		if old.Before(at.Add(-activityMinutes * time.Minute)) {
			delete(a.oldest, old)
		}
	}
}

// RunSamples looks at the oldest pending flag from time to time, until ctx ends. A graph that does not answer leaves a gap.
func (s *Service) RunSamples(ctx context.Context) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		s.sample(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Service) sample(ctx context.Context) {
	var oldest time.Time
	err := s.graph.View(ctx, func(tx Tx) (err error) {
		_, oldest, err = tx.CountCommands(ctx, s.now())
		return err
	})
	if err != nil {
		return // others tell that the graph is away
	}
	var age time.Duration
	if !oldest.IsZero() {
		age = max(0, s.now().Sub(oldest))
	}
	s.activity.note(time.Now(), age)
}
