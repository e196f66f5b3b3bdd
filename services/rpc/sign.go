package rpc

import (
	"crypto/rand"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/tombstone-project/tombstone/events"
)

// headerNonce is the header of a question that makes its signature another one each time.
const headerNonce = "Tombstone-Nonce"

// The kinds of what is signed here.
const (
	kindQuestion = "question"
	kindAnswer   = "answer"
)

// errForeignAnswer is what an answer gives that nobody with our keys has signed for this question.
var errForeignAnswer = errors.New("an answer came whose signature is missing or wrong; both services need the same TOMBSTONE_MESSAGE_KEY")

// question is a question on its way.
type question struct {
	msg       *nats.Msg
	signature string
}

// newQuestion signs a question, if there are keys.
func newQuestion(keys events.Keys, subject string, data []byte) question {
	q := question{msg: &nats.Msg{Subject: subject, Data: data}}
	if len(keys) == 0 {
		return q
	}
	nonce := rand.Text()
	q.signature = keys.Sign(kindQuestion, []byte(subject), []byte(nonce), data)
	q.msg.Header = nats.Header{headerNonce: {nonce}, events.HeaderSignature: {q.signature}}
	return q
}

// genuine tells whether a question was signed by somebody who has our keys.
func genuine(keys events.Keys, subject string, h micro.Headers, data []byte) bool {
	return keys.Verify(h.Get(events.HeaderSignature), kindQuestion, []byte(subject), []byte(h.Get(headerNonce)), data)
}

// signAnswer binds an answer to the one question that it is of: an old answer is none to a new question.
func signAnswer(keys events.Keys, h micro.Headers, answer *nats.Msg) {
	if len(keys) == 0 {
		return
	}
	if answer.Header == nil {
		answer.Header = nats.Header{}
	}
	code := answer.Header.Get(micro.ErrorCodeHeader)
	answer.Header.Set(events.HeaderSignature, keys.Sign(kindAnswer, []byte(h.Get(events.HeaderSignature)), []byte(code), answer.Data))
}

// answeredBy tells whether an answer to this question was signed by somebody who has our keys.
func (q question) answeredBy(keys events.Keys, answer *nats.Msg) bool {
	code := answer.Header.Get(micro.ErrorCodeHeader)
	return keys.Verify(answer.Header.Get(events.HeaderSignature), kindAnswer, []byte(q.signature), []byte(code), answer.Data)
}
