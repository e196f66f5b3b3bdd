package saga

import (
	"context"
	"fmt"
	"maps"

	"github.com/tombstone-project/tombstone/events"
)

// kindMessage is what a signature of a message is of.
const kindMessage = "message"

// Signed signs what goes to the bus: the subject and the body. Without keys nothing is signed.
func Signed(p Publisher, keys events.Keys) Publisher {
	if len(keys) == 0 {
		return p
	}
	return signer{p, keys}
}

type signer struct {
	Publisher
	keys events.Keys
}

func (s signer) Publish(ctx context.Context, messages []Message) []error {
	signed := make([]Message, len(messages))
	for i, m := range messages {
		signed[i] = Sign(m, s.keys)
	}
	return s.Publisher.Publish(ctx, signed)
}

// Sign gives the message with its signature.
func Sign(m Message, keys events.Keys) Message {
	header := map[string]string{}
	maps.Copy(header, m.Header)
	header[events.HeaderSignature] = keys.Sign(kindMessage, []byte(m.Subject), m.Data)
	return Message{Subject: m.Subject, Header: header, Data: m.Data}
}

// Verified lets a handler see only messages that the other service has signed: others can be read by nobody, and go to the
// dead letters. Without keys all pass.
func Verified(keys events.Keys, handle func(context.Context, Message, int) error) func(context.Context, Message, int) error {
	return func(ctx context.Context, m Message, attempt int) error {
		if !keys.Verify(m.Header[events.HeaderSignature], kindMessage, []byte(m.Subject), m.Data) {
			return fmt.Errorf("%w: its signature is missing, or not one of our keys", events.ErrUnreadable)
		}
		return handle(ctx, m, attempt)
	}
}
