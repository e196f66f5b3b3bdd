package fault

import (
	"context"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/saga"
)

// Subscriber wraps saga.Subscriber, and the deliveries that it gives.
type Subscriber struct {
	name    string
	inner   saga.Subscriber
	process *Process

	mu    sync.Mutex
	again []saga.Delivery // to be handed out once more
}

// NewSubscriber makes the consumer of that name as the process fetches from it.
func NewSubscriber(p *Process, name string, inner saga.Subscriber) *Subscriber {
	return &Subscriber{name: name, inner: inner, process: p}
}

// AckWait is the consumer's.
func (s *Subscriber) AckWait() time.Duration { return s.inner.AckWait() }

// Fetch wraps the waiting for messages. The fault before the effect is one before the waiting. A process that is frozen
// asks for nothing meanwhile.
func (s *Subscriber) Fetch(ctx context.Context, limit int) ([]saga.Delivery, error) {
	kind, err := s.process.begin(Call{Port: "subscriber", Method: "Fetch", Items: 1, About: s.name})
	if err != nil {
		return nil, err
	}
	fetched, err := s.fetch(ctx, limit)
	if err := s.process.finish(kind, err); err != nil {
		return nil, err
	}
	var out []saga.Delivery
	for _, d := range fetched {
		out = append(out, &delivery{d, s})
		if kind == Twice {
			out = append(out, &delivery{copyOf(d), s})
		}
	}
	return out, nil
}

// fetch waits for messages, as long as the process runs.
func (s *Subscriber) fetch(ctx context.Context, limit int) ([]saga.Delivery, error) {
	for {
		changed := s.process.watch()
		if err := s.process.running(); err != nil {
			return nil, err
		}
		if again := s.take(limit); len(again) > 0 {
			return again, nil
		}
		waiting, stop := until(ctx, changed)
		fetched, err := s.inner.Fetch(waiting, limit)
		interrupted := waiting.Err() != nil && ctx.Err() == nil
		stop()
		if len(fetched) > 0 || !interrupted {
			return fetched, err
		}
	}
}

// put keeps a delivery for the next fetch, and interrupts one that waits.
func (s *Subscriber) put(d saga.Delivery) {
	s.mu.Lock()
	s.again = append(s.again, d)
	s.mu.Unlock()
	s.process.mu.Lock()
	defer s.process.mu.Unlock()
	s.process.lookAgain()
}

func (s *Subscriber) take(limit int) []saga.Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.again), limit)
	taken := s.again[:n:n]
	s.again = s.again[n:]
	return taken
}

// until is a context that ends with the channel, too.
func until(ctx context.Context, end <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-end:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
