package saga

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// RelayConfig is what a Relay needs; zero members have the defaults.
type RelayConfig struct {
	Name      string // in the log: "commands", "feed"
	Outbox    Outbox
	Publisher Publisher
	// Every is how often the outbox is looked at without a nudge. Default 2 s.
	Every time.Duration
	// Hold is for how long flags are claimed; one that could not be published is tried again after it. Default 15 s.
	Hold time.Duration
	// Timeout bounds one hand-over to the bus or the outbox; it must be below Hold. Default 5 s.
	Timeout time.Duration
	// Page is how many flags are claimed, and published, at a time. Default 500.
	Page int
	// Lanes is how many pages are in hand at the same time. More than 1 only for an outbox whose claims exclude each other.
	// Default 1.
	Lanes int
	// Queue is how many flags Send may hold; what is more is left to the outbox. Default 10,000.
	Queue int
	// Waiting tells how many messages wait on the bus, and Backlog bounds them for the loop: a backlog of the outbox must not
	// stand on the bus before what Send takes. With so many it adds a trickle only, so that messages which nobody takes do not
	// keep out what replaces them. Nil: the loop is not bound. Default of Backlog 10,000.
	Waiting func(ctx context.Context) (int, error)
	Backlog int
	Logger  *slog.Logger // nil: nothing is logged
}

// Relay takes flags from an outbox and publishes them. Flags that this process has just written go the short way, by Send;
// the loop takes what is left over: after a crash, a full queue, an outage.
type Relay struct {
	RelayConfig
	pace  Backoff // between failures of the loop
	fault outage

	nudged chan struct{}
	filled chan struct{}
	mu     sync.Mutex
	queue  []Flag
}

// NewRelay makes a relay; Run starts it.
func NewRelay(c RelayConfig) *Relay {
	c.Every, c.Hold, c.Timeout = or(c.Every, 2*time.Second), or(c.Hold, 15*time.Second), or(c.Timeout, 5*time.Second)
	c.Page, c.Lanes, c.Queue, c.Backlog = or(c.Page, 500), or(c.Lanes, 1), or(c.Queue, 10_000), or(c.Backlog, 10_000)
	c.Logger = or(c.Logger, slog.New(slog.DiscardHandler)).With("relay", c.Name)
	return &Relay{
		RelayConfig: c,
		pace:        Backoff{First: c.Every, Max: max(c.Every, 30*time.Second)},
		fault:       outage{log: c.Logger, what: "publishing"},
		nudged:      make(chan struct{}, 1),
		filled:      make(chan struct{}, 1),
	}
}

// Run publishes until ctx ends. It then finishes what is in hand and what Send has taken, within Timeout each, and gives
// nil.
func (r *Relay) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { r.loop(ctx); return nil })
	g.Go(func() error { r.sendLoop(ctx); return nil })
	return g.Wait()
}

// Nudge makes the loop look at the outbox now. It does not wait, and does not shorten the pause after a failure.
func (r *Relay) Nudge() { signal(r.nudged) }

// Fault is why publishing failed the last time; nil when it worked, or was not tried yet.
func (r *Relay) Fault() error { return r.fault.now() }

// Send takes flags that this process has just written and claimed, and publishes them as soon as it can: while one call to
// the bus runs, the flags for the next gather. It never waits. What does not fit is left to the loop: nothing is lost, the
// claim expires.
func (r *Relay) Send(flags []Flag) {
	r.mu.Lock()
	fits := len(r.queue)+len(flags) <= r.Queue
	if fits {
		r.queue = append(r.queue, flags...)
	}
	r.mu.Unlock()
	if fits {
		signal(r.filled)
	} else {
		r.Logger.Debug("queue is full, flags are left to the outbox", "flags", len(flags))
	}
}

// loop empties the outbox, every now and then.
func (r *Relay) loop(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		wait, nudged := r.Every, r.nudged
		if err := r.drain(ctx); err != nil {
			failures++
			wait, nudged = r.pace.Delay(failures), nil
		} else {
			failures = 0
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-nudged:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// drain publishes page by page until nothing is due, or something fails.
func (r *Relay) drain(ctx context.Context) error {
	var g errgroup.Group
	for range r.Lanes {
		g.Go(func() error {
			for ctx.Err() == nil {
				if n, err := r.page(ctx); n == 0 || err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// page claims and publishes one page, and says how many flags it had; 0 also when the bus has no room for another.
func (r *Relay) page(ctx context.Context) (int, error) {
	ask, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	limit, err := r.room(ask)
	var flags []Flag
	if err == nil {
		if flags, err = r.Outbox.Claim(ask, max(limit, r.Page/trickle), r.Hold); err != nil {
			err = fmt.Errorf("claim flags: %w", err)
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			r.fault.note(err)
		}
		return 0, err
	}
	if len(flags) == 0 {
		return 0, nil
	}
	return min(len(flags), limit), r.publish(ctx, flags)
}

// trickle is which part of a page goes when there is no room for a page.
const trickle = 10

// room is how many flags of the outbox the bus should get now, at most a page. It fails while the bus does not answer:
// then nothing is claimed either.
func (r *Relay) room(ctx context.Context) (int, error) {
	if r.Waiting == nil {
		return r.Page, nil
	}
	waiting, err := r.Waiting(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask what waits on the bus: %w", err)
	}
	return max(0, min(r.Page, r.Backlog-waiting)), nil
}

// sendLoop publishes what Send takes.
func (r *Relay) sendLoop(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-r.filled:
		case <-ctx.Done():
			ended = true
		}
		for flags := r.take(); len(flags) > 0; flags = r.take() {
			if err := r.publish(ctx, flags); err != nil && ended {
				return
			}
		}
	}
}

// take removes the next page of the queue.
func (r *Relay) take() []Flag {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.queue), r.Page)
	flags := r.queue[:n:n]
	r.queue = r.queue[n:]
	if len(r.queue) == 0 {
		r.queue = nil // lets go of the array
	}
	return flags
}

// publish hands flags to the bus and then, and only then, removes those that it has taken.
//
// The order is what makes a crash harmless: between the two steps the flag is still there and is published again, which
// the bus refuses as a second copy, or the worker meets as a repeat. The other way round a crash would leave a tombstone
// that nobody is told of (the protocol model's mutation "flag-first": a deletion that never completes but for R2).
func (r *Relay) publish(ctx context.Context, flags []Flag) error {
	err := r.handOver(ctx, flags)
	r.fault.note(err)
	return err
}

func (r *Relay) handOver(ctx context.Context, flags []Flag) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Timeout) // what has begun is finished
	defer cancel()
	flags, fault := r.replace(ctx, flags)
	messages := make([]Message, len(flags))
	for i, f := range flags {
		messages[i] = f.Message
	}
	errs := r.Publisher.Publish(ctx, messages)
	var sent []string
	for i, f := range flags {
		if err := errs[i]; err != nil {
			fault = or(fault, fmt.Errorf("publish on %s: %w", f.Message.Subject, err))
			continue
		}
		sent = append(sent, f.ID)
		r.Logger.Debug("published", "flag", f.ID, "subject", f.Message.Subject)
	}
	if len(sent) == 0 {
		return fault
	}
	if err := r.Outbox.Sent(ctx, sent); err != nil {
		return fmt.Errorf("remove flags: %w", err)
	}
	return fault
}

// replace purges the subjects of flags that ask for it, and gives the flags that may be published now: without a purge the
// bus would refuse the new copy and count it as sent.
func (r *Relay) replace(ctx context.Context, flags []Flag) (ready []Flag, fault error) {
	var subjects []string
	for _, f := range flags {
		if f.Replace {
			subjects = append(subjects, f.Message.Subject)
		}
	}
	if len(subjects) == 0 {
		return flags, nil
	}
	err := r.Publisher.Purge(ctx, subjects)
	if err == nil {
		return flags, nil
	}
	for _, f := range flags {
		if !f.Replace {
			ready = append(ready, f)
		}
	}
	return ready, fmt.Errorf("purge subjects: %w", err)
}

// signal wakes whoever waits on c, now or next.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
