package sagatest

import (
	"time"

	"github.com/tombstone-project/tombstone/saga"
)

// Advance puts the bus's clock forward: ack waits and delays run out.
func (b *Bus) Advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead += d
	b.wake()
}

// Down makes every call fail with err, until Down(nil).
func (b *Bus) Down(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = err
	b.wake()
}

// Refuse makes publishing fail for the messages for which f gives an error; nil ends it.
func (b *Bus) Refuse(f func(saga.Message) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = f
}

// Wipe loses everything, acknowledged or not, as a broker that lost its disk.
func (b *Bus) Wipe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.empty()
	b.wake()
}

// Again delivers everything on a subject once more: what is in hand, so that two workers have it, and what was
// acknowledged already, as a broker that lost the acknowledgement.
func (b *Bus) Again(subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streamOf(subject)
	for _, k := range s.kept {
		if k.message.Subject == subject {
			k.visibleAt = b.now()
		}
	}
	var rest []*kept
	for _, k := range s.acked {
		if k.message.Subject != subject || s.single && s.holds(subject) {
			rest = append(rest, k)
			continue
		}
		k.visibleAt = b.now()
		s.kept = append(s.kept, k)
	}
	s.acked = rest
	b.wake()
}
