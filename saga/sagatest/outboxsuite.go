package sagatest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/saga"
)

// OutboxUnderTest is an outbox for TestOutbox: empty, and used by nobody else.
type OutboxUnderTest struct {
	saga.Outbox
	// Set writes a flag that is due now and gives its id; flags of the same name are for the same command.
	Set func(t *testing.T, name string, replace bool) (id string)
	// Advance puts the outbox's clock forward.
	Advance func(d time.Duration)
}

// TestOutbox is the contract of saga.Outbox, for one whose claims exclude each other.
func TestOutbox(t *testing.T, open func(t *testing.T) OutboxUnderTest) {
	for _, c := range []struct {
		name string
		test func(o outboxTest)
	}{
		{"nothing is due in an empty outbox", outboxTest.empty},
		{"flags come oldest first, up to max", outboxTest.order},
		{"a claimed flag is nobody else's until the claim runs out", outboxTest.claim},
		{"what is sent is gone; unknown ids are fine", outboxTest.sent},
		{"a flag set again is another one", outboxTest.setAgain},
		{"a flag says that it replaces", outboxTest.replace},
		{"claims at the same time take different flags", outboxTest.together},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(outboxTest{t, open(t)}) })
	}
}

type outboxTest struct {
	*testing.T
	OutboxUnderTest
}

const hold = time.Minute

func (o outboxTest) claimed(max int) (ids []string) {
	o.Helper()
	flags, err := o.Claim(o.Context(), max, hold)
	if err != nil {
		o.Fatal(err)
	}
	for _, f := range flags {
		if f.Message.Subject == "" {
			o.Errorf("flag %s has no subject", f.ID)
		}
		ids = append(ids, f.ID)
	}
	return ids
}

func (o outboxTest) want(what string, want, got []string) {
	o.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		o.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (o outboxTest) remove(ids ...string) {
	o.Helper()
	if err := o.Sent(o.Context(), ids); err != nil {
		o.Fatal(err)
	}
}

func (o outboxTest) empty() { o.want("an empty outbox", nil, o.claimed(10)) }

func (o outboxTest) order() {
	var ids []string
	for i := range 5 {
		ids = append(ids, o.Set(o.T, fmt.Sprintf("asset-%d", i), false))
		o.Advance(time.Millisecond)
	}
	o.want("the first page", ids[:2], o.claimed(2))
	o.want("the second page", ids[2:], o.claimed(10))
}

func (o outboxTest) claim() {
	id := o.Set(o.T, "a", false)
	o.want("the first claim", []string{id}, o.claimed(10))
	o.want("a claim of what is claimed", nil, o.claimed(10))
	o.Advance(hold + time.Second)
	o.want("a claim after it ran out", []string{id}, o.claimed(10))
}

func (o outboxTest) sent() {
	first, second := o.Set(o.T, "a", false), o.Set(o.T, "b", false)
	o.want("both", []string{first, second}, o.claimed(10))
	o.remove(first, first, "00000000-0000-7000-8000-000000000000")
	o.Advance(hold + time.Second)
	o.want("what is left", []string{second}, o.claimed(10))
}

func (o outboxTest) setAgain() {
	first := o.Set(o.T, "a", false)
	o.want("the first", []string{first}, o.claimed(10))
	o.remove(first)
	second := o.Set(o.T, "a", false)
	o.remove(first) // late, of the older one
	o.want("the second", []string{second}, o.claimed(10))
}

func (o outboxTest) replace() {
	o.Set(o.T, "a", true)
	flags, err := o.Claim(o.Context(), 10, hold)
	if err != nil || len(flags) != 1 || !flags[0].Replace {
		o.Errorf("want one flag that replaces, got %+v, %v", flags, err)
	}
}

func (o outboxTest) together() {
	var want []string
	for i := range 40 {
		want = append(want, o.Set(o.T, fmt.Sprintf("asset-%02d", i), false))
	}
	var mu sync.Mutex
	var got []string
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ids := o.claimed(3); len(ids) > 0; ids = o.claimed(3) {
				mu.Lock()
				got = append(got, ids...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(want)
	slices.Sort(got)
	o.want("claims together", want, got)
}
