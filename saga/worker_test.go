package saga_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/sagatest"
)

// workerTest is a worker on a bus in memory, in a bubble with a clock of its own. Its ack wait is 30 s.
type workerTest struct {
	*testing.T
	bus  *sagatest.Bus
	log  *lines
	stop func() // ends Run's context
	done <-chan struct{}
}

func worker(t *testing.T, w saga.Worker, test func(w workerTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { startWorker(t, w, test) })
}

// startWorker is worker for a test that is in a bubble already.
func startWorker(t *testing.T, w saga.Worker, test func(w workerTest)) {
	t.Helper()
	c := workerTest{T: t, bus: sagatest.NewBus(sagatest.BusConfig{}), log: &lines{}}
	if w.Subscriber == nil {
		w.Subscriber = c.bus.Commands()
	}
	w.Name, w.Logger = "erase", slog.New(slog.NewTextHandler(c.log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	c.stop, c.done = cancel, done
	go func() {
		defer close(done)
		if err := w.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	defer func() { cancel(); <-done }()
	test(c)
}

// publish puts the commands of flags 0 to n-1 on the bus and lets the worker take them.
func (w workerTest) publish(n int) {
	w.Helper()
	if err := errors.Join(w.bus.Publish(w.Context(), messages(flags(n)))...); err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
}

func (w workerTest) waiting(want int) {
	w.Helper()
	if got := len(w.bus.Messages(events.Names{}.Commands().Name)); got != want {
		w.Errorf("on the bus: want %d messages, got %d", want, got)
	}
}

func TestAMessageIsAcknowledgedOnlyAfterItsHandlerHasReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		handle := func(_ context.Context, m saga.Message, attempt int) error {
			if m.Subject != flag(0).Message.Subject || string(m.Data) != "asset-0" || attempt != 1 {
				t.Errorf("handler got %+v, attempt %d", m, attempt)
			}
			<-release
			return nil
		}
		startWorker(t, saga.Worker{Handle: handle}, func(w workerTest) {
			w.publish(1)
			w.waiting(1)
			close(release)
			synctest.Wait()
			w.waiting(0)
		})
	})
}

// H-01, H-04.
func TestAFailureIsTriedAgainAfterGrowingDelaysAndThenParked(t *testing.T) {
	var tries []time.Duration
	var parked []saga.Outcome
	var began time.Time
	worker(t, saga.Worker{
		Backoff: saga.Backoff{Random: func() float64 { return 0 }},
		Handle: func(_ context.Context, _ saga.Message, attempt int) error {
			if attempt == 1 {
				began = time.Now()
			}
			tries = append(tries, time.Since(began))
			return fmt.Errorf("attempt %d: %w", attempt, errDown)
		},
		Park: func(_ context.Context, m saga.Message, o saga.Outcome) error {
			if m.Subject != flag(0).Message.Subject {
				t.Errorf("parked message: %+v", m)
			}
			parked = append(parked, o)
			return nil
		},
	}, func(w workerTest) {
		w.publish(1)
		pass(time.Hour)
		ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
		want := []time.Duration{0, ms(1250), ms(3750), ms(8750), ms(18750), ms(38750), ms(78750), ms(138750)}
		if diff := cmp.Diff(want, tries); diff != "" {
			w.Errorf("tries (-want +got):\n%s", diff)
		}
		if len(parked) != 1 || parked[0].Blocked || parked[0].Attempt != 8 || !errors.Is(parked[0].Err, errDown) ||
			parked[0].NextTry.Sub(began) != ms(138750)+5*time.Minute {
			w.Errorf("parked: %+v", parked)
		}
		w.waiting(0)
	})
}

func TestAnObstacleIsReportedAndThenAcknowledged(t *testing.T) {
	next := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var reports atomic.Int64
	worker(t, saga.Worker{
		Handle: func(context.Context, saga.Message, int) error {
			return fmt.Errorf("erase: %w", &saga.Parked{Part: "payload", Reason: "object-locked", NextTry: &next})
		},
		Park: func(_ context.Context, _ saga.Message, o saga.Outcome) error {
			if !o.Blocked || o.Part != "payload" || o.Reason != "object-locked" || !o.NextTry.Equal(next) {
				t.Errorf("outcome: %+v", o)
			}
			if reports.Add(1) < 3 {
				return errDown // nobody heard of it yet
			}
			return nil
		},
	}, func(w workerTest) {
		w.publish(1)
		w.waiting(1)
		pass(10 * time.Minute)
		if reports.Load() != 3 {
			w.Errorf("reports: want one that succeeded after two that failed, got %d", reports.Load())
		}
		w.waiting(0)
	})
}

// H-11.
func TestWhatCannotBeReadIsBuriedAtOnceAndTheNextIsHandled(t *testing.T) {
	var handled atomic.Int64
	worker(t, saga.Worker{
		InFlight: 1,
		Handle: func(_ context.Context, m saga.Message, _ int) error {
			handled.Add(1)
			if string(m.Data) == "asset-0" {
				return fmt.Errorf("decode: %w: no asset", events.ErrUnreadable)
			}
			return nil
		},
	}, func(w workerTest) {
		w.publish(2)
		w.waiting(0)
		dead := w.bus.Messages(events.Names{}.Dead().Name)
		if len(dead) != 1 || string(dead[0].Data) != "asset-0" || dead[0].Header["Tombstone-Reason"] != "decode: unreadable message: no asset" {
			w.Errorf("dead letters: %+v", dead)
		}
		if handled.Load() != 2 {
			w.Errorf("handled: want each once, got %d", handled.Load())
		}
	})
}

func TestAPanicIsAFailureOfItsMessageAlone(t *testing.T) {
	worker(t, saga.Worker{
		Handle: func(_ context.Context, m saga.Message, attempt int) error {
			if string(m.Data) == "asset-0" && attempt < 3 {
				panic("ouch")
			}
			return nil
		},
		Park: func(context.Context, saga.Message, saga.Outcome) error { panic("must not be parked") },
	}, func(w workerTest) {
		w.publish(2)
		w.waiting(1)
		pass(time.Minute)
		w.waiting(0)
		if w.log.count("ouch") < 2 || w.log.count("worker_test.go") < 2 {
			w.Errorf("the log lacks the panics with their stacks:\n%s", w.log.text())
		}
	})
}

func TestWithNowhereToParkAMessageComesAgainForEver(t *testing.T) {
	var tries atomic.Int64
	worker(t, saga.Worker{Handle: func(context.Context, saga.Message, int) error {
		if tries.Add(1) < 100 {
			return &saga.Parked{Reason: "graph is away"}
		}
		return nil
	}}, func(w workerTest) {
		w.publish(1)
		pass(98 * time.Minute)
		w.waiting(1)
		pass(2 * time.Minute)
		w.waiting(0)
	})
}

// H-07, H-08.
func TestALongHandlerKeepsItsMessage(t *testing.T) {
	var started atomic.Int64
	worker(t, saga.Worker{Handle: func(ctx context.Context, _ saga.Message, _ int) error {
		started.Add(1)
		<-time.After(10 * time.Minute)
		return ctx.Err()
	}}, func(w workerTest) {
		w.publish(1)
		pass(9 * time.Minute)
		w.waiting(1)
		pass(2 * time.Minute)
		w.waiting(0)
		if started.Load() != 1 {
			w.Errorf("handlers started: want 1, got %d", started.Load())
		}
	})
}

// H-05.
func TestAWorkerThatGaveNoSignLeavesTheVerdictToTheNextDelivery(t *testing.T) {
	var attempts []int
	worker(t, saga.Worker{
		InFlight: 1,
		Handle: func(_ context.Context, _ saga.Message, attempt int) error {
			attempts = append(attempts, attempt)
			if attempt > 1 {
				return nil
			}
			<-time.After(5 * time.Minute)
			return &saga.Parked{Reason: "locked"}
		},
		Park: func(context.Context, saga.Message, saga.Outcome) error { panic("a verdict on another's delivery") },
	}, func(w workerTest) {
		w.publish(1)
		w.bus.Down(errDown) // no sign reaches the bus, as from a frozen process
		pass(4*time.Minute + 59*time.Second)
		w.bus.Down(nil)
		pass(3 * time.Minute)
		w.waiting(0)
		if diff := cmp.Diff([]int{1, 2}, attempts); diff != "" {
			w.Errorf("attempts (-want +got):\n%s", diff)
		}
		if w.log.count("panicked") != 0 || w.log.count("left to the next delivery") != 1 {
			w.Errorf("log:\n%s", w.log.text())
		}
	})
}

func TestNoMoreThanInFlightMessagesAreInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inHand, most, handled atomic.Int64
		release := make(chan struct{})
		handle := func(context.Context, saga.Message, int) error {
			if now := inHand.Add(1); now > most.Load() {
				most.Store(now)
			}
			<-release
			inHand.Add(-1)
			handled.Add(1)
			return nil
		}
		startWorker(t, saga.Worker{InFlight: 3, Handle: handle}, func(w workerTest) {
			w.publish(10)
			if inHand.Load() != 3 {
				w.Errorf("in hand: want 3, got %d", inHand.Load())
			}
			close(release)
			synctest.Wait()
			if most.Load() != 3 || handled.Load() != 10 {
				w.Errorf("want 10 handled, 3 at most at the same time, got %d and %d", handled.Load(), most.Load())
			}
		})
	})
}

func TestTooManyFailuresAreParkedSoThatHealthyMessagesFlow(t *testing.T) {
	var parked atomic.Int64
	worker(t, saga.Worker{
		MaxLater: 4,
		Handle:   func(context.Context, saga.Message, int) error { return errDown },
		Park:     func(context.Context, saga.Message, saga.Outcome) error { parked.Add(1); return nil },
	}, func(w workerTest) {
		w.publish(10)
		w.waiting(4)
		if parked.Load() != 6 {
			w.Errorf("parked: want what is above 4, got %d", parked.Load())
		}
	})
}

// H-18.
func TestAStopLetsWorkFinishWithinTheGrace(t *testing.T) {
	worker(t, saga.Worker{
		Grace: 10 * time.Second,
		Handle: func(ctx context.Context, _ saga.Message, _ int) error {
			<-time.After(8 * time.Second)
			return ctx.Err()
		},
	}, func(w workerTest) {
		w.publish(3)
		w.stop()
		synctest.Wait()
		w.waiting(3)
		<-w.done
		w.waiting(0)
	})
}

// H-18.
func TestAfterTheGraceWorkIsCancelledAndGivenBackAtOnce(t *testing.T) {
	worker(t, saga.Worker{
		Grace: 10 * time.Second,
		Handle: func(ctx context.Context, _ saga.Message, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		},
	}, func(w workerTest) {
		w.publish(3)
		began := time.Now()
		w.stop()
		<-w.done
		if took := time.Since(began); took != 10*time.Second {
			w.Errorf("the stop took %v, want the grace of 10 s", took)
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if got, err := w.bus.Commands().Fetch(ctx, 10); len(got) != 3 || err != nil || got[0].Attempt() != 2 {
			w.Errorf("given back: want 3 for another worker at once, got %d, %v", len(got), err)
		}
	})
}

func TestAHandlerThatDoesNotEndIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		startWorker(t, saga.Worker{Grace: time.Second, Handle: func(context.Context, saga.Message, int) error { <-release; return nil }}, func(w workerTest) {
			w.publish(1)
			w.stop()
			<-w.done
			if w.log.count("left behind") != 1 {
				w.Errorf("log:\n%s", w.log.text())
			}
			close(release)
		})
	})
}

func TestAnOutageOfTheBusIsWaitedOutQuietlyAndThenWorkGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sagatest.NewBus(sagatest.BusConfig{})
		counted := &countingSubscriber{Subscriber: bus.Commands()}
		handled := make(chan struct{}, 1)
		handle := func(context.Context, saga.Message, int) error { handled <- struct{}{}; return nil }
		startWorker(t, saga.Worker{Subscriber: counted, Handle: handle}, func(w workerTest) {
			bus.Down(errDown)
			pass(time.Hour)
			if n := counted.count(); n < 600 || n > 1000 {
				w.Errorf("fetches in an hour: want one about every five seconds, got %d", n)
			}
			if n := w.log.count("fetching"); n < 1 || n > 70 {
				w.Errorf("lines in the log in an hour: want about one a minute, got %d", n)
			}
			bus.Down(nil)
			if err := errors.Join(bus.Publish(t.Context(), messages(flags(1)))...); err != nil {
				t.Fatal(err)
			}
			<-handled
			synctest.Wait()
			if w.log.count("fetching works again") != 1 {
				w.Errorf("log:\n%s", w.log.text())
			}
		})
	})
}

// H-14.
func TestCopiesOfOneMessageEachReachTheHandler(t *testing.T) {
	var handled atomic.Int64
	worker(t, saga.Worker{Handle: func(context.Context, saga.Message, int) error { handled.Add(1); return nil }}, func(w workerTest) {
		w.publish(1)
		w.bus.Again(flag(0).Message.Subject) // the acknowledgement was lost
		synctest.Wait()
		w.bus.Again(flag(0).Message.Subject)
		synctest.Wait()
		if handled.Load() != 3 {
			w.Errorf("handled: want 3, got %d", handled.Load())
		}
		w.waiting(0)
	})
}

func TestAWipedBusGivesTheNewMessagesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var handled atomic.Int64
		handle := func(context.Context, saga.Message, int) error { <-release; handled.Add(1); return nil }
		startWorker(t, saga.Worker{InFlight: 2, Handle: handle}, func(w workerTest) {
			w.publish(5)
			w.bus.Wipe()
			close(release)
			synctest.Wait()
			w.publish(1)
			if handled.Load() != 3 {
				w.Errorf("handled: want the two in hand and the new one, got %d", handled.Load())
			}
			w.waiting(0)
		})
	})
}

// countingSubscriber counts fetches.
type countingSubscriber struct {
	saga.Subscriber
	mu sync.Mutex
	n  int
}

func (s *countingSubscriber) Fetch(ctx context.Context, max int) ([]saga.Delivery, error) {
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
	return s.Subscriber.Fetch(ctx, max)
}

func (s *countingSubscriber) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}
