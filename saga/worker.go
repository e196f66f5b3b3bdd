package saga

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Worker takes messages from a subscriber, gives each to a handler, and ends each delivery as Decide says. Set the
// exported members, then Run.
type Worker struct {
	Name       string // in the log
	Subscriber Subscriber
	// Handle does the work of one message. It is called from many goroutines, for the same message again after any fault,
	// and at the same time in another process: it looks at the present state and moves it forward. Its ctx ends only when
	// the worker stops and the grace is over. Nil acknowledges; other errors: see Decide.
	Handle func(ctx context.Context, m Message, attempt int) error
	// Park reports an outcome of kind Park durably; then the message is acknowledged. Nil: there is nowhere to park, such
	// messages come again after Backoff.Max.
	Park    func(ctx context.Context, m Message, o Outcome) error
	Backoff Backoff
	// InFlight bounds the messages in hand. Default 256.
	InFlight int
	// MaxLater bounds the messages given back whose delay is not over: they count against what the broker hands out, and
	// must not keep healthy ones waiting. What is more is parked, where there is somewhere to park. Default 500.
	MaxLater int
	// Grace is how long handlers may go on when Run's ctx has ended. Default 10 s.
	Grace  time.Duration
	Logger *slog.Logger // nil: nothing is logged
}

// settleTime bounds one step that ends a delivery, and how long a handler may take to notice that it is cancelled.
const settleTime = 5 * time.Second

// fetchPause is the pace of tries while the subscriber fails.
var fetchPause = Backoff{First: 250 * time.Millisecond, Max: 5 * time.Second}

// Run handles messages until ctx ends. Then it fetches no more, gives the deliveries in hand Grace to finish, cancels the
// rest and gives them back at once, and gives nil.
func (w *Worker) Run(ctx context.Context) error {
	s := &shift{Worker: *w, began: time.Now(), free: make(chan struct{}, or(w.InFlight, 256))}
	s.Logger = or(w.Logger, slog.New(slog.DiscardHandler)).With("worker", w.Name)
	s.postponed.max = or(w.MaxLater, 500)
	handling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.fetch(ctx, handling)
	s.finish(cancel)
	return nil
}

// shift is one Run of a worker.
type shift struct {
	Worker
	began     time.Time
	free      chan struct{} // holds a token for each delivery in hand, or asked for
	inHand    sync.WaitGroup
	postponed postponed
}

// fetch takes as many messages as there is room for, again and again, until ctx ends.
func (s *shift) fetch(ctx, handling context.Context) {
	fault := outage{log: s.Logger, what: "fetching"}
	for failures := 0; ctx.Err() == nil; {
		room := s.room(ctx)
		if room == 0 {
			return
		}
		deliveries, err := s.Subscriber.Fetch(ctx, room)
		for _, d := range deliveries {
			s.inHand.Go(func() {
				defer s.release(1)
				newDelivery(s, d).serve(handling)
			})
		}
		s.release(room - len(deliveries))
		if ctx.Err() != nil {
			return
		}
		fault.note(err)
		if err == nil {
			failures = 0
			continue
		}
		failures++
		pause(ctx, fetchPause.Delay(failures))
	}
}

// room waits until at least one more delivery may be in hand, takes all the room there is, and says how much; 0 when ctx
// has ended.
func (s *shift) room(ctx context.Context) (room int) {
	select {
	case s.free <- struct{}{}:
		room++
	case <-ctx.Done():
		return 0
	}
	for {
		select {
		case s.free <- struct{}{}:
			room++
		default:
			return room
		}
	}
}

func (s *shift) release(n int) {
	for range n {
		<-s.free
	}
}

// finish waits for the deliveries in hand, first as long as Grace allows, then after cancelling them.
func (s *shift) finish(cancel context.CancelFunc) {
	ended := make(chan struct{})
	go func() { s.inHand.Wait(); close(ended) }()
	grace := time.NewTimer(or(s.Grace, 10*time.Second))
	defer grace.Stop()
	select {
	case <-ended:
		return
	case <-grace.C:
	}
	s.Logger.Info("grace is over, what is in hand is given back", "deliveries", len(s.free))
	cancel()
	last := time.NewTimer(2 * settleTime)
	defer last.Stop()
	select {
	case <-ended:
	case <-last.C:
		s.Logger.Warn("handlers do not end, they are left behind", "deliveries", len(s.free))
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// postponed counts messages that were given back and are not due yet.
type postponed struct {
	max int

	mu  sync.Mutex
	due []time.Time
}

// add counts one more, unless there are max already.
func (p *postponed) add(delay time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	kept := p.due[:0]
	for _, t := range p.due {
		if t.After(now) {
			kept = append(kept, t)
		}
	}
	p.due = kept
	if len(p.due) >= p.max {
		return false
	}
	p.due = append(p.due, now.Add(delay))
	return true
}
