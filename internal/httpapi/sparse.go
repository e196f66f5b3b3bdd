package httpapi

import (
	"sync"
	"time"
)

// sparseEvery is how often one line is let through.
const sparseEvery = time.Second

// sparse keeps lines from flooding the log: in an outage every request has the same one to tell.
type sparse struct {
	mu     sync.Mutex
	last   time.Time // zero: none yet
	hidden int
}

// pass tells whether a line may be written now, and how many were not since the last one.
func (s *sparse) pass() (hidden int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.last.IsZero() || now.Sub(s.last) >= sparseEvery {
		hidden, s.last, s.hidden = s.hidden, now, 0
		return hidden, true
	}
	s.hidden++
	return 0, false
}
