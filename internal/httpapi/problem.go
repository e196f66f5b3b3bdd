package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/tombstone-project/tombstone/problem"
)

// problemType is the media type of RFC 9457.
const problemType = "application/problem+json"

// retryAfter is how many seconds a caller is asked to wait when a store does not answer.
const retryAfter = 5

// problemDocument is a problem document. It is what every refusal and failure leaves as.
type problemDocument struct {
	_ struct{} `additionalProperties:"true"` // the problem's own members

	Type   string `json:"type" doc:"The problem's stable name, /problems/NAME." example:"/problems/has-dependants"`
	Title  string `json:"title" doc:"The name in words."`
	Status int    `json:"status" doc:"The HTTP status code."`
	Detail string `json:"detail" doc:"What is wrong with this request, and what to do."`
	Field  string `json:"field,omitempty" doc:"The place of the fault in the request." example:"links[0].to"`

	name    problem.Name
	members map[string]any
}

// newDocument makes the document of a refusal.
func newDocument(p *problem.Problem) *problemDocument {
	title := strings.ReplaceAll(string(p.Name), "-", " ")
	return &problemDocument{
		Type: "/problems/" + string(p.Name), Title: strings.ToUpper(title[:1]) + title[1:], Status: p.Name.Status(),
		Detail: p.Detail, Field: p.Field, name: p.Name, members: p.Members,
	}
}

// MarshalJSON puts the problem's own members behind the common ones.
func (d *problemDocument) MarshalJSON() ([]byte, error) {
	type common problemDocument
	text, err := json.Marshal((*common)(d))
	if err != nil || len(d.members) == 0 {
		return text, err
	}
	more, err := json.Marshal(d.members)
	if err != nil {
		return nil, err
	}
	return append(append(text[:len(text)-1], ','), more[1:]...), nil
}

// Error makes the document an error that huma writes as it is.
func (d *problemDocument) Error() string { return string(d.name) + ": " + d.Detail }

// GetStatus is the status code of the answer.
func (d *problemDocument) GetStatus() int { return d.Status }

// ContentType is that of every problem document, whatever the caller accepts.
func (d *problemDocument) ContentType(string) string { return problemType }

// GetHeaders are the headers that belong to the status code.
func (d *problemDocument) GetHeaders() http.Header {
	h := http.Header{}
	switch d.name {
	case problem.Unauthenticated:
		h.Set("WWW-Authenticate", `Bearer realm="tombstone"`)
	case problem.Unavailable:
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	case problem.RateLimited:
		if seconds, ok := d.members["retry_after"].(int); ok {
			h.Set("Retry-After", strconv.Itoa(seconds))
		}
	}
	return h
}

// documentOf turns any error of a service into a document. What is not a refusal is told in the log, never to the caller.
func (s *server) documentOf(ctx context.Context, call string, err error) *problemDocument {
	p := problem.As(err)
	switch {
	case p != nil:
	case errors.Is(err, context.Canceled): // the caller has gone: nobody reads this answer
		return newDocument(problem.New(problem.Unavailable, "the request was given up"))
	case errors.Is(err, context.DeadlineExceeded):
		p = problem.New(problem.Unavailable, "there was no answer in time; whether anything has changed is not known: ask again")
	default:
		p = problem.New(problem.Internal, "this is a fault of the service; its log tells more")
	}
	switch p.Name {
	case problem.Internal:
		s.log.ErrorContext(ctx, "request failed", "call", call, "error", err)
	case problem.Unavailable:
		if others, ok := s.unserved.pass(); ok {
			s.log.WarnContext(ctx, "request could not be served", "call", call, "error", err, "others", others)
		}
	}
	return newDocument(p)
}

// writeProblem answers with a refusal outside of huma.
func writeProblem(w http.ResponseWriter, p *problem.Problem) {
	d := newDocument(p)
	text, err := json.Marshal(d)
	if err != nil { // a member that JSON cannot hold; the refusal itself still counts
		d.members = nil
		text, _ = json.Marshal(d)
	}
	for name, values := range d.GetHeaders() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(d.Status)
	_, _ = w.Write(append(text, '\n'))
}
