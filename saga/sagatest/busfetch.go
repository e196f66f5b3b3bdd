package sagatest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/saga"
)

func (b busTest) fetchMax() {
	b.publish(b.many(5)...)
	ctx, cancel := b.ctx()
	defer cancel()
	total := 0
	for total < 5 {
		got, err := b.Commands.Fetch(ctx, 2)
		b.must(err)
		if len(got) == 0 || len(got) > 2 {
			b.Fatalf("Fetch(2): got %d deliveries", len(got))
		}
		for _, d := range got {
			b.must(d.Ack(ctx))
		}
		total += len(got)
	}
	b.nothing(b.Commands, 100*time.Millisecond)
}

func (b busTest) fetchWaits() {
	ctx, cancel := b.ctx()
	defer cancel()
	var got []saga.Delivery
	var err error
	fetched := make(chan struct{})
	go func() { defer close(fetched); got, err = b.Reports.Fetch(ctx, 10) }()
	b.nothing(b.Commands, 300*time.Millisecond) // by then the other fetch waits
	b.publish(b.report("a", "x"))
	<-fetched
	if err != nil || len(got) != 1 {
		b.Fatalf("Fetch: want the report, got %d deliveries, %v", len(got), err)
	}
	b.must(got[0].Ack(ctx))
}

func (b busTest) fetchEnds() {
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { _, err := b.Commands.Fetch(ctx, 5); ended <- err }()
	b.nothing(b.Reports, 300*time.Millisecond)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		b.Errorf("Fetch: want context.Canceled, got %v", err)
	}
	b.publish(b.many(3)...)
	for _, d := range b.next(b.Commands, 3) {
		if d.Attempt() != 1 {
			b.Errorf("attempt after a fetch that ended before: want 1, got %d", d.Attempt())
		}
	}
}

func (b busTest) shared() {
	const n = 1000
	b.publish(b.many(n)...)
	ctx, cancel := b.ctx()
	defer cancel()
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				got, err := b.Commands.Fetch(ctx, 50)
				if err != nil && ctx.Err() == nil {
					b.Errorf("Fetch: %v", err)
				}
				for _, d := range got {
					if err := d.Ack(b.Context()); err != nil {
						b.Errorf("Ack: %v", err)
					}
					mu.Lock()
					seen[d.Message().Subject]++
					if len(seen) == n {
						cancel()
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for subject, times := range seen {
		if times != 1 {
			b.Errorf("%s arrived %d times", subject, times)
		}
	}
	if len(seen) != n {
		b.Errorf("want %d messages, got %d", n, len(seen))
	}
	b.holds(b.Names.Commands())
}

func (b busTest) comesAgain() {
	b.publish(b.command("a"))
	began := time.Now()
	b.next(b.Commands, 1)
	d := b.next(b.Commands, 1)[0]
	if d.Attempt() != 2 {
		b.Errorf("attempt: want 2, got %d", d.Attempt())
	}
	if after := time.Since(began); after < b.Commands.AckWait()*9/10 {
		b.Errorf("came again after %v, before the ack wait of %v", after, b.Commands.AckWait())
	}
	b.must(d.Ack(b.Context()))
}

func (b busTest) inProgress() {
	b.publish(b.command("a"))
	d := b.next(b.Commands, 1)[0]
	wait := b.Commands.AckWait()
	ctx, cancel := context.WithTimeout(b.Context(), 2*wait)
	defer cancel()
	busy := make(chan struct{})
	go func() {
		defer close(busy)
		ticks := time.NewTicker(wait / 10)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				if err := d.InProgress(b.Context()); err != nil {
					b.Errorf("InProgress: %v", err)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	if got, err := b.Commands.Fetch(ctx, 1); len(got) != 0 || !errors.Is(err, context.DeadlineExceeded) {
		b.Errorf("Fetch while in progress: want nothing, got %d deliveries and %v", len(got), err)
	}
	<-busy
	b.must(d.Ack(b.Context()))
	b.holds(b.Names.Commands())
}

func (b busTest) later() {
	b.publish(b.command("a"), b.command("b"))
	const delay = 500 * time.Millisecond
	began := time.Now()
	for _, d := range b.next(b.Commands, 2) {
		b.must(d.Later(b.Context(), delay))
	}
	again := b.next(b.Commands, 2)
	if after := time.Since(began); after < delay*9/10 {
		b.Errorf("came again after %v, before the delay of %v", after, delay)
	}
	for _, d := range again {
		if d.Attempt() != 2 {
			b.Errorf("attempt: want 2, got %d", d.Attempt())
		}
		b.must(d.Ack(b.Context()))
	}
}

func (b busTest) laterAtOnce() {
	b.publish(b.command("a"))
	for attempt := 1; attempt <= 3; attempt++ {
		d := b.next(b.Commands, 1)[0]
		if d.Attempt() != attempt {
			b.Errorf("attempt: want %d, got %d", attempt, d.Attempt())
		}
		b.must(d.Later(b.Context(), 0))
	}
}

func (b busTest) endsAreRepeatable() {
	b.publish(b.command("a"), b.command("b"), b.command("c"))
	ends := []func(saga.Delivery) error{
		func(d saga.Delivery) error { return d.Ack(b.Context()) },
		func(d saga.Delivery) error { return d.Bury(b.Context(), "why") },
		func(d saga.Delivery) error { return d.Later(b.Context(), time.Hour) },
	}
	for i, d := range b.next(b.Commands, 3) {
		for _, end := range append(ends[i:i+1:i+1], ends...) {
			b.must(end(d))
		}
		b.must(d.InProgress(b.Context()))
	}
	ctx, cancel := b.ctx()
	defer cancel()
	letters, err := b.Messages(ctx, b.Names.Dead().Name)
	b.must(err)
	if len(letters) != 1 {
		b.Errorf("dead letters: want the one that was buried first, got %d", len(letters))
	}
}

func (b busTest) bury() {
	poison := b.command("a")
	poison.Data, poison.Header = []byte("{\"cut\xff"), map[string]string{"Some-Header": "some value"}
	b.publish(poison, b.command("b"))
	for _, d := range b.next(b.Commands, 2) {
		if d.Message().Subject == poison.Subject {
			b.must(d.Bury(b.Context(), "not valid JSON:\nline 1"))
		} else {
			b.must(d.Ack(b.Context()))
		}
	}
	b.holds(b.Names.Dead(), saga.Message{Subject: b.Names.DeadLetter(poison.Subject), Data: poison.Data, Header: map[string]string{
		"Some-Header": "some value", reasonHeader: "not valid JSON: line 1", subjectHeader: poison.Subject}})
	b.emptied(b.Names.Commands())
}

func (b busTest) lateEnd() {
	b.publish(b.command("a"))
	late := b.next(b.Commands, 1)[0]
	now := b.next(b.Commands, 1)[0]
	b.must(late.Ack(b.Context())) // taken or not, it is no error and loses no other message
	b.must(now.Ack(b.Context()))
	b.holds(b.Names.Commands())
}
