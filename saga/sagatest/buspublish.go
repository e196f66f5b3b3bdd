package sagatest

import (
	"context"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

func (b busTest) arrives() {
	first := b.command("a")
	first.Header = map[string]string{"Some-Header": "some value"}
	empty := saga.Message{Subject: b.Names.Command("deletion-2", "a")}
	b.publish(first, empty)
	for _, d := range b.next(b.Commands, 2) {
		want := first
		if d.Message().Subject == empty.Subject {
			want = empty
		}
		got := d.Message()
		if got.Subject != want.Subject || string(got.Data) != string(want.Data) || got.Header["Some-Header"] != want.Header["Some-Header"] {
			b.Errorf("message: want %+v, got %+v", want, got)
		}
		if d.Attempt() != 1 {
			b.Errorf("attempt: want 1, got %d", d.Attempt())
		}
		b.must(d.Ack(b.Context()))
	}
	b.holds(b.Names.Commands())
}

func (b busTest) publishIsDurable() {
	messages := b.many(3)
	b.publish(messages...)
	b.holds(b.Names.Commands(), messages...)
}

func (b busTest) oneFails() {
	ctx, cancel := b.ctx()
	defer cancel()
	messages := []saga.Message{b.command("a"), {Subject: b.Names.RPC("nobody.listens"), Data: []byte("x")}, b.command("b")}
	errs := b.Publisher.Publish(ctx, messages)
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		b.Errorf("Publish: want a failure of the second alone, got %v", errs)
	}
	b.holds(b.Names.Commands(), messages[0], messages[2])
}

func (b busTest) publishEnded() {
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	if errs := b.Publisher.Publish(ctx, b.many(2)); len(errs) != 2 || errs[0] == nil || errs[1] == nil {
		b.Errorf("Publish: want an error for each, got %v", errs)
	}
}

func (b busTest) oneCommand() {
	first, second := b.command("a"), b.command("a")
	second.Data = []byte("second")
	b.publish(first)
	b.publish(second, second)
	b.holds(b.Names.Commands(), first)
	b.must(b.next(b.Commands, 1)[0].Ack(b.Context()))
	b.holds(b.Names.Commands())
}

func (b busTest) oneCommandInHand() {
	b.publish(b.command("a"))
	d := b.next(b.Commands, 1)[0]
	b.publish(b.command("a"))
	b.holds(b.Names.Commands(), b.command("a"))
	b.must(d.Ack(b.Context()))
	b.holds(b.Names.Commands())
}

func (b busTest) commandAgain() {
	for range 3 {
		b.publish(b.command("a"))
		d := b.next(b.Commands, 1)[0]
		if d.Attempt() != 1 {
			b.Errorf("attempt of a new message: want 1, got %d", d.Attempt())
		}
		b.must(d.Ack(b.Context()))
	}
}

func (b busTest) purge() {
	stuck, neighbour := b.command("a"), b.command("b")
	b.publish(stuck, neighbour)
	old := b.next(b.Commands, 2)
	b.must(b.Publisher.Purge(b.Context(), []string{stuck.Subject, b.Names.Command("deletion-9", "nothing-waits-here")}))
	b.holds(b.Names.Commands(), neighbour)
	anew := b.command("a")
	anew.Data = []byte("anew")
	b.publish(anew)
	b.holds(b.Names.Commands(), neighbour, anew)
	d := b.next(b.Commands, 1)[0]
	if diff := cmp.Diff("anew", string(d.Message().Data)); diff != "" || d.Attempt() != 1 {
		b.Errorf("want the new copy at its first attempt, got attempt %d of %q", d.Attempt(), d.Message().Data)
	}
	b.must(d.Ack(b.Context()))
	for _, d := range old {
		b.must(d.Ack(b.Context()))
	}
	b.must(b.Publisher.Purge(b.Context(), nil))
}

func (b busTest) reportsAreKept() {
	one, two := b.report("a", "1"), b.report("a", "2")
	b.publish(one, two, one)
	b.holds(b.Names.Reports(), one, two, one)
	for _, d := range b.next(b.Reports, 3) {
		b.must(d.Ack(b.Context()))
	}
	b.holds(b.Names.Reports())
}

func (b busTest) eventsStay() {
	event := saga.Message{Subject: b.Names.Event(events.TypeDeletionRequested, "a"), Data: []byte("event")}
	b.publish(event, event)
	b.holds(b.Names.Events(), event, event)
	b.holds(b.Names.Commands())
	b.holds(b.Names.Reports())
}
