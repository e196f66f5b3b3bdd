package s3

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

const (
	// minBatch is the least that a batch shrinks to.
	minBatch = 10
	// firstPause and lastPause bound how long a bucket that slows us down is left alone before a request.
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// errNoTime refuses to begin a batch that could not end in time: to break it off would leave the store working on what we
// then send again.
var errNoTime = errors.New("no time is left for another batch")

// pace is how fast one bucket takes deletions, and how fast we therefore send them.
//
// A batch is all that the protocol takes at first, and half as large after each one that took more than half of a request's
// time: a store that works off a batch key by key may need too long for a full one. It does not grow again: twice the
// requests cost little, another timeout much. The pause before a request doubles each time the store says that we are too
// fast, and halves with each request without such a word.
type pace struct {
	mu     sync.Mutex
	size   int           // keys in a batch; 0: all that the protocol takes
	perKey time.Duration // of the last batch
	pause  time.Duration
}

// batch is how many keys go next.
func (p *pace) batch() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size == 0 {
		return maxBatch
	}
	return p.size
}

// took notes how long a batch took, or was waited for.
func (p *pace) took(keys int, elapsed, timeout time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.perKey = elapsed / time.Duration(keys)
	if elapsed > timeout/2 {
		p.size = max(keys/2, minBatch)
	}
}

// heard notes whether the store said that we are too fast.
func (p *pace) heard(tooFast bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case tooFast:
		p.pause = min(max(2*p.pause, firstPause), lastPause)
	case p.pause > firstPause:
		p.pause /= 2
	default:
		p.pause = 0
	}
}

// wait waits for the next batch's turn: errNoTime when that would not end before ctx does.
func (p *pace) wait(ctx context.Context, keys int) error {
	p.mu.Lock()
	pause, needs := p.pause, p.perKey*time.Duration(keys)
	p.mu.Unlock()
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause+needs {
		return errNoTime
	}
	if pause == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tooFast tells the error codes with which a store slows us down.
func tooFast(code string) bool {
	_, known := retry.DefaultThrottleErrorCodes[code]
	return known || code == "ServiceUnavailable"
}

// pace gives the pace of one bucket.
func (s *Store) pace(bucket string) *pace {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.paces[bucket]
	if p == nil {
		p = &pace{}
		s.paces[bucket] = p
	}
	return p
}
