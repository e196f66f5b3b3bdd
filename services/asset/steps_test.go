package asset_test

import (
	"context"
	"errors"
	"sync"

	"github.com/tombstone-project/tombstone/services/asset/memory"
)

// steps sees every call of every port in order, before and after its effect, and may fail it.
type steps struct {
	mu      sync.Mutex
	quiet   bool
	taken   []string
	moments int
	on      func(ctx context.Context, m moment) error
}

// moment is just before or just after the effect of a call.
type moment struct {
	number int // from 1
	after  bool
	call   memory.Call
}

var errLost = errors.New("connection lost")

func (s *steps) before(ctx context.Context, call memory.Call) error { return s.pass(ctx, call, false) }
func (s *steps) after(ctx context.Context, call memory.Call) error  { return s.pass(ctx, call, true) }

func (s *steps) pass(ctx context.Context, call memory.Call, after bool) error {
	s.mu.Lock()
	if s.quiet {
		s.mu.Unlock()
		return nil
	}
	if !after {
		s.taken = append(s.taken, call.Store+"."+call.Method)
	}
	s.moments++
	m, on := moment{s.moments, after, call}, s.on
	s.mu.Unlock()
	if on == nil {
		return nil
	}
	return on(ctx, m)
}

// dieAt makes every call fail from that moment on, as if the process had died; 0: never.
func (s *steps) dieAt(number int) {
	s.set(func(_ context.Context, m moment) error {
		if number > 0 && m.number >= number {
			return errLost
		}
		return nil
	})
}

// set counts moments anew and shows each to on; nil: to nobody.
func (s *steps) set(on func(ctx context.Context, m moment) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moments, s.on = 0, on
}

// quietly lets the test itself use the stores without being seen.
func (s *steps) quietly(f func()) {
	s.hush(true)
	defer s.hush(false)
	f()
}

func (s *steps) hush(quiet bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = quiet
}

// names gives the calls so far and forgets them.
func (s *steps) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.taken
	s.taken = nil
	return out
}
