package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/saga"
)

// The headers of a dead letter.
const (
	headerReason  = "Tombstone-Reason"
	headerSubject = "Tombstone-Subject" // where it was
	headerCut     = "Tombstone-Cut"     // how many bytes of the payload are missing at its end
)

const (
	// maxReason bounds the reason in a header, in bytes.
	maxReason = 1024
	// headerRoom is what the headers of a dead letter may add to its message, in bytes.
	headerRoom = 8 << 10
)

// delivery is one message in hand.
type delivery struct {
	b   *Bus
	msg jetstream.Msg

	mu    sync.Mutex
	ended bool
}

func (d *delivery) Message() saga.Message {
	return unwire(d.msg.Subject(), d.msg.Headers(), d.msg.Data())
}

func (d *delivery) Attempt() int {
	meta, err := d.msg.Metadata()
	if err != nil { // a message without it does not come from a consumer
		return 1
	}
	return int(meta.NumDelivered)
}

func (d *delivery) InProgress(context.Context) error {
	return ignoreEnded(d.msg.InProgress())
}

func (d *delivery) Ack(ctx context.Context) error {
	return d.end(ctx, func() error { return d.msg.DoubleAck(ctx) })
}

func (d *delivery) Later(ctx context.Context, delay time.Duration) error {
	return d.end(ctx, func() error { return d.msg.NakWithDelay(delay) })
}

func (d *delivery) Bury(ctx context.Context, reason string) error {
	return d.end(ctx, func() error {
		if err := d.b.bury(ctx, d.Message(), reason); err != nil {
			return fmt.Errorf("publish dead letter: %w", err)
		}
		return d.msg.Term()
	})
}

// end does once what ends the delivery.
func (d *delivery) end(ctx context.Context, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !d.b.nc.IsConnected() {
		return errAway
	}
	err := ignoreEnded(do())
	d.ended = err == nil
	return err
}

func ignoreEnded(err error) error {
	if errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
		return nil
	}
	return err
}

// bury publishes a dead letter. A payload that would be too big with the letter's headers is cut, and says so: else the
// message could never leave its queue.
func (b *Bus) bury(ctx context.Context, m saga.Message, reason string) error {
	letter := wire(m)
	letter.Subject = b.names.DeadLetter(m.Subject)
	letter.Header.Set(headerReason, headerText(reason))
	letter.Header.Set(headerSubject, m.Subject)
	_, err := b.js.PublishMsg(ctx, letter, jetstream.WithExpectStream(b.names.Dead().Name))
	if errors.Is(err, nats.ErrMaxPayload) {
		keep := max(int(b.nc.MaxPayload())-headerRoom, 0)
		letter.Header = nats.Header{headerReason: letter.Header[headerReason], headerSubject: {m.Subject},
			headerCut: {fmt.Sprint(len(m.Data) - keep)}}
		letter.Data = letter.Data[:keep]
		_, err = b.js.PublishMsg(ctx, letter, jetstream.WithExpectStream(b.names.Dead().Name))
	}
	if missing(err) {
		_, fault := b.Ensure(ctx)
		return errors.Join(err, fault)
	}
	return err
}

// headerText is text as a header can hold it: one line, and not long.
func headerText(text string) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.ToValidUTF8(line[:min(len(line), maxReason)], "")
}
