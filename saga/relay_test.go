package saga_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/sagatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = errors.New("down")

// relayTest is a relay between an outbox and a bus in memory, in a bubble with a clock of its own.
type relayTest struct {
	*testing.T
	relay  *saga.Relay
	bus    *sagatest.Bus
	outbox *countingOutbox
	log    *lines
	stop   func()
}

func relay(t *testing.T, change func(*saga.RelayConfig), test func(r relayTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := relayTest{T: t, bus: sagatest.NewBus(sagatest.BusConfig{}), outbox: &countingOutbox{Outbox: sagatest.NewOutbox()}, log: &lines{}}
		c := saga.RelayConfig{Name: "commands", Outbox: r.outbox, Publisher: r.bus, Logger: slog.New(slog.NewTextHandler(r.log, nil))}
		if change != nil {
			change(&c)
		}
		r.relay = saga.NewRelay(c)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		r.stop = sync.OnceFunc(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
		})
		go func() { ended <- r.relay.Run(ctx) }()
		defer r.stop()
		synctest.Wait()
		test(r)
	})
}

// pass lets a time go by in the bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func flag(i int) saga.Flag {
	asset := fmt.Sprintf("asset-%d", i)
	return saga.Flag{ID: fmt.Sprintf("flag-%d", i), Message: saga.Message{Subject: events.Names{}.Command("d-1", asset), Data: []byte(asset)}}
}

func flags(n int) (all []saga.Flag) {
	for i := range n {
		all = append(all, flag(i))
	}
	return all
}

func messages(flags []saga.Flag) (messages []saga.Message) {
	for _, f := range flags {
		messages = append(messages, f.Message)
	}
	return messages
}

func (r relayTest) waiting(want []saga.Message) {
	r.Helper()
	if diff := cmp.Diff(want, r.bus.Messages(events.Names{}.Commands().Name)); diff != "" {
		r.Errorf("on the bus (-want +got):\n%s", diff)
	}
}

func (r relayTest) set(want []saga.Flag) {
	r.Helper()
	if diff := cmp.Diff(want, r.outbox.Flags()); diff != "" {
		r.Errorf("still set (-want +got):\n%s", diff)
	}
}

func TestFlagsOfTheOutboxArePublishedAndThenRemoved(t *testing.T) {
	relay(t, func(c *saga.RelayConfig) { c.Page = 100 }, func(r relayTest) {
		r.outbox.Set(flags(250)...)
		r.outbox.SetDue(time.Hour, flag(999))
		pass(2 * time.Second)
		r.waiting(messages(flags(250)))
		r.set([]saga.Flag{flag(999)})
		if got := slices.Max(r.outbox.sizes); got != 100 {
			r.Errorf("largest page: want 100, got %d", got)
		}
	})
}

func TestWhatIsLeftFromBeforeIsPublishedAtTheStart(t *testing.T) {
	var box *countingOutbox
	relay(t, func(c *saga.RelayConfig) {
		box = c.Outbox.(*countingOutbox)
		box.Set(flag(1))
	}, func(r relayTest) {
		r.waiting(messages([]saga.Flag{flag(1)})) // no time has passed
	})
}

func TestANudgeIsAnsweredAtOnce(t *testing.T) {
	relay(t, func(c *saga.RelayConfig) { c.Every = time.Hour }, func(r relayTest) {
		r.outbox.Set(flag(1))
		r.relay.Nudge()
		r.relay.Nudge()
		synctest.Wait()
		r.waiting(messages([]saga.Flag{flag(1)}))
	})
}

func TestSeveralLanesEmptyTheOutboxTogether(t *testing.T) {
	relay(t, func(c *saga.RelayConfig) { c.Page, c.Lanes = 10, 4 }, func(r relayTest) {
		r.outbox.Set(flags(95)...)
		r.relay.Nudge()
		synctest.Wait()
		r.set(nil)
		if got := len(r.bus.Messages(events.Names{}.Commands().Name)); got != 95 {
			r.Errorf("on the bus: want 95, got %d", got)
		}
	})
}

// H-17: what stands in the outbox does not all go before what is handed over meanwhile; and what nobody takes from the bus
// keeps nothing out for ever.
func TestABacklogLeavesRoomOnTheBusForWhatIsHandedOver(t *testing.T) {
	commands := events.Names{}.Commands().Name
	relay(t, func(c *saga.RelayConfig) {
		c.Every, c.Page, c.Backlog = 2*time.Second, 10, 50
		bus := c.Publisher.(*sagatest.Bus)
		c.Waiting = func(context.Context) (int, error) { return len(bus.Messages(commands)), nil }
	}, func(r relayTest) {
		r.outbox.Set(flags(200)...)
		r.relay.Nudge()
		synctest.Wait()
		if got := len(r.bus.Messages(commands)); got < 50 || got > 51 {
			r.Errorf("on the bus: want 50 and one of the trickle, got %d", got)
		}
		fresh := flag(1000)
		r.relay.Send([]saga.Flag{fresh})
		synctest.Wait()
		if got := r.bus.Messages(commands); got[len(got)-1].Subject != fresh.Message.Subject {
			r.Errorf("what was handed over waits for the backlog")
		}
		pass(20 * time.Second)
		if got := len(r.bus.Messages(commands)); got < 60 || got > 65 {
			r.Errorf("nobody takes anything for 20 s: want one more each round, got %d", got)
		}
		for len(r.bus.Messages(commands)) > 0 { // somebody takes everything
			for _, m := range r.bus.Messages(commands) {
				if err := r.bus.Purge(r.Context(), []string{m.Subject}); err != nil {
					r.Fatal(err)
				}
			}
			pass(2 * time.Second)
		}
		r.set(nil)
	})
}

// H-15.
func TestAFlagOutlivesACrashBetweenPublishingAndRemoving(t *testing.T) {
	relay(t, nil, func(r relayTest) {
		r.outbox.LoseSent(true) // the process died before the removal was durable
		r.outbox.Set(flag(1))
		pass(3 * time.Second)
		r.waiting(messages(flags(2)[1:]))
		r.set([]saga.Flag{flag(1)})
		r.outbox.LoseSent(false)
		pass(20 * time.Second) // the claim runs out, the flag is published again
		r.waiting(messages(flags(2)[1:]))
		r.set(nil)
	})
}

func TestWhatTheBusDidNotTakeStaysSetAndIsTriedAgain(t *testing.T) {
	relay(t, nil, func(r relayTest) {
		bad := flag(1).Message.Subject
		r.bus.Refuse(func(m saga.Message) error {
			if m.Subject == bad {
				return errDown
			}
			return nil
		})
		r.outbox.Set(flags(3)...)
		pass(3 * time.Second)
		r.waiting(messages([]saga.Flag{flag(0), flag(2)}))
		r.set([]saga.Flag{flag(1)})
		if err := r.relay.Fault(); !errors.Is(err, errDown) {
			r.Errorf("the fault: %v", err)
		}
		r.bus.Refuse(nil)
		pass(20 * time.Second)
		if err := r.relay.Fault(); err != nil {
			r.Errorf("the fault, now that it works: %v", err)
		}
		r.waiting(messages([]saga.Flag{flag(0), flag(2), flag(1)}))
		r.set(nil)
	})
}

func TestAFlagThatReplacesTakesThePlaceOfTheCopyThatWaits(t *testing.T) {
	relay(t, func(c *saga.RelayConfig) { c.Every = time.Hour }, func(r relayTest) {
		r.outbox.Set(flags(2)...)
		r.relay.Nudge()
		synctest.Wait()
		anew := flag(0)
		anew.ID, anew.Replace, anew.Message.Data = "again", true, []byte("anew")
		r.outbox.Set(anew)
		r.relay.Nudge()
		synctest.Wait()
		r.waiting([]saga.Message{flag(1).Message, anew.Message})
		r.set(nil)
	})
}

func TestWithoutThePurgeAFlagThatReplacesIsNotCountedAsSent(t *testing.T) {
	relay(t, func(c *saga.RelayConfig) { c.Publisher = noPurge{c.Publisher} }, func(r relayTest) {
		anew := flag(0)
		anew.Replace = true
		r.outbox.Set(anew, flag(1))
		pass(3 * time.Second)
		r.waiting([]saga.Message{flag(1).Message})
		r.set([]saga.Flag{anew})
	})
}

func TestPublishingComesFirstAndOnlyThenIsTheFlagRemoved(t *testing.T) {
	var steps steps
	relay(t, func(c *saga.RelayConfig) {
		c.Outbox, c.Publisher = recordedOutbox{c.Outbox, &steps}, recordedPublisher{c.Publisher, &steps}
	}, func(r relayTest) {
		r.outbox.Set(flag(1))
		pass(2 * time.Second)
		r.relay.Send([]saga.Flag{flag(2)})
		synctest.Wait()
		want := []string{"publish asset-1", "published", "sent flag-1", "publish asset-2", "published", "sent flag-2"}
		if diff := cmp.Diff(want, steps.list()); diff != "" {
			r.Errorf("steps (-want +got):\n%s", diff)
		}
	})
}

func TestFlagsHandedOverGatherWhileTheBusIsBusy(t *testing.T) {
	var steps steps
	var release chan struct{} // of the bubble
	relay(t, func(c *saga.RelayConfig) {
		c.Page = 100
		release = make(chan struct{})
		c.Publisher = heldPublisher{recordedPublisher{c.Publisher, &steps}, release}
	}, func(r relayTest) {
		for i := range 50 {
			r.relay.Send([]saga.Flag{flag(2 * i), flag(2*i + 1)})
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		if got := steps.count("published"); got != 2 {
			r.Errorf("calls to the bus: want the first two flags and then all others, got %d calls", got)
		}
		r.waiting(messages(flags(100)))
	})
}

func TestAFullQueueLeavesFlagsToTheOutbox(t *testing.T) {
	var release chan struct{} // of the bubble
	relay(t, func(c *saga.RelayConfig) {
		c.Queue = 2
		release = make(chan struct{})
		c.Publisher = heldPublisher{c.Publisher, release}
	}, func(r relayTest) {
		r.outbox.Set(flags(4)...)
		claimed, err := r.outbox.Claim(r.Context(), 10, time.Minute)
		if err != nil {
			r.Fatal(err)
		}
		r.relay.Send(claimed[:1]) // in hand
		synctest.Wait()
		r.relay.Send(claimed[1:3]) // fills the queue
		r.relay.Send(claimed[3:])
		close(release)
		synctest.Wait()
		r.set(flags(4)[3:])
		pass(63 * time.Second)
		r.set(nil)
		r.waiting(messages(flags(4)))
	})
}

func TestAStopFinishesWhatWasHandedOver(t *testing.T) {
	var release chan struct{} // of the bubble
	relay(t, func(c *saga.RelayConfig) {
		release = make(chan struct{})
		c.Publisher = heldPublisher{c.Publisher, release}
	}, func(r relayTest) {
		r.outbox.Set(flags(2)...)
		r.relay.Send(flags(1))
		synctest.Wait()
		r.relay.Send(flags(2)[1:])
		go func() { synctest.Wait(); close(release) }() // after the stop has begun
		r.stop()
		r.waiting(messages(flags(2)))
		r.set(nil)
	})
}

func TestAnOutageIsWaitedOutQuietly(t *testing.T) {
	for name, down := range map[string]func(relayTest, error){
		"of the bus":    func(r relayTest, err error) { r.bus.Down(err) },
		"of the outbox": func(r relayTest, err error) { r.outbox.Down(err) },
	} {
		t.Run(name, func(t *testing.T) {
			relay(t, nil, func(r relayTest) {
				down(r, errDown)
				r.outbox.Set(flags(1000)...)
				before := len(r.outbox.sizes)
				for range 3600 {
					r.relay.Nudge()
					pass(time.Second)
				}
				if tries := len(r.outbox.sizes) - before; tries < 100 || tries > 500 {
					r.Errorf("tries in an hour: want one or two for each claim's time, got %d", tries)
				}
				if n := r.log.count("fails"); n < 1 || n > 90 {
					r.Errorf("lines in the log in an hour: want about one a minute, got %d", n)
				}
				r.set(flags(1000))
				down(r, nil)
				pass(time.Minute)
				r.set(nil)
				if r.log.count("works again") != 1 {
					r.Errorf("the log does not tell once that it works again:\n%s", r.log.text())
				}
			})
		})
	}
}

// countingOutbox notes each claim that failed or gave something.
type countingOutbox struct {
	*sagatest.Outbox
	mu    sync.Mutex
	sizes []int
}

func (o *countingOutbox) Claim(ctx context.Context, max int, hold time.Duration) ([]saga.Flag, error) {
	flags, err := o.Outbox.Claim(ctx, max, hold)
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(flags) > 0 || err != nil {
		o.sizes = append(o.sizes, len(flags))
	}
	return flags, err
}

// noPurge cannot purge.
type noPurge struct{ saga.Publisher }

func (noPurge) Purge(context.Context, []string) error { return errDown }

// heldPublisher waits for release before it publishes.
type heldPublisher struct {
	saga.Publisher
	release chan struct{}
}

func (p heldPublisher) Publish(ctx context.Context, messages []saga.Message) []error {
	<-p.release
	return p.Publisher.Publish(ctx, messages)
}

// steps are noted in their order.
type steps struct {
	mu  sync.Mutex
	all []string
}

func (s *steps) note(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, step)
}

func (s *steps) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

func (s *steps) count(step string) (n int) {
	for _, got := range s.list() {
		if got == step {
			n++
		}
	}
	return n
}

type recordedPublisher struct {
	saga.Publisher
	steps *steps
}

func (p recordedPublisher) Publish(ctx context.Context, messages []saga.Message) []error {
	for _, m := range messages {
		p.steps.note("publish " + string(m.Data))
	}
	defer p.steps.note("published")
	return p.Publisher.Publish(ctx, messages)
}

type recordedOutbox struct {
	saga.Outbox
	steps *steps
}

func (o recordedOutbox) Sent(ctx context.Context, ids []string) error {
	for _, id := range ids {
		o.steps.note("sent " + id)
	}
	return o.Outbox.Sent(ctx, ids)
}

// lines is a log to look at.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func (l *lines) count(what string) int { return strings.Count(l.text(), what) }
