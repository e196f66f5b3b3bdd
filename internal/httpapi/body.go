package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// maxBody is the longest body, in bytes; imports are bounded by the line.
	maxBody = 1 << 20
	// importIdle bounds the wait for the next bytes of an import; the request timeout does for other bodies.
	importIdle = 5 * time.Minute
)

// limitBodies bounds bodies in size, imports apart, and in the time that their bytes may take to come.
func (s *server) limitBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &timedBody{ReadCloser: r.Body, control: http.NewResponseController(w), idle: importIdle}
		r.Body = body
		if !isImport(r) {
			body.idle = s.cfg.RequestTimeout
			body.until = time.Now().Add(s.cfg.RequestTimeout) // whole: byte by byte it would take for ever
			r.Body = http.MaxBytesReader(w, body, maxBody)
		}
		next.ServeHTTP(w, r)
		body.leave()
	})
}

// timedBody gives every read of a body a deadline of its own, but none after that of the whole.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	until   time.Time // zero: however long it takes
	ended   bool
}

// Read reads within the deadline, and takes the deadline away at the end: the server goes on reading, to see the caller
// leave, and a deadline that passed there would end the request's context while the handler still works.
func (b *timedBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.idle)
	if !b.until.IsZero() && deadline.After(b.until) {
		deadline = b.until
	}
	b.extend(deadline)
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended = true
		b.extend(time.Time{})
	}
	return n, err
}

// leave bounds what the server still reads of a body that the handler did not want, before it sends the answer.
func (b *timedBody) leave() {
	if !b.ended {
		b.extend(time.Now().Add(b.idle))
	}
}

// extend sets the deadline; writers that have none (in tests) are fine.
func (b *timedBody) extend(deadline time.Time) { _ = b.control.SetReadDeadline(deadline) }
