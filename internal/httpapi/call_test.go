package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

// caller sends requests to a handler.
type caller struct {
	t *testing.T
	h http.Handler
}

// answer is one answer, read to its end.
type answer struct {
	t      *testing.T
	call   string
	Status int
	Header http.Header
	Body   string
}

// call sends a request; the target is taken as it stands. headers are names and values in turn.
func (c caller) call(method, target, body string, headers ...string) answer {
	c.t.Helper()
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, target, nil)
	} else {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.h.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{c.t, method + " " + target, w.Code, w.Header(), string(text)}
}

// want fails the test unless the status is this.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.Status != status {
		a.t.Fatalf("%.200s: expected %d, got %d %s", a.call, status, a.Status, a.Body)
	}
	return a
}

// problem fails the test unless the answer is this problem document.
func (a answer) problem(status int, name, field string) map[string]any {
	a.t.Helper()
	a.want(status)
	if ct := a.Header.Get("Content-Type"); ct != "application/problem+json" {
		a.t.Fatalf("%.200s: expected a problem document, got %q: %s", a.call, ct, a.Body)
	}
	document := a.json()
	if document["type"] != "/problems/"+name || document["status"] != float64(status) || document["title"] == "" || document["detail"] == "" {
		a.t.Fatalf("%.200s: expected /problems/%s, got %s", a.call, name, a.Body)
	}
	if got, _ := document["field"].(string); got != field {
		a.t.Fatalf("%.200s: expected the field %q, got %s", a.call, field, a.Body)
	}
	return document
}

func (a answer) json() map[string]any {
	a.t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
		a.t.Fatalf("%s: %v: %s", a.call, err, a.Body)
	}
	return v
}

// serve makes a caller of a new in-memory service.
func serve(t *testing.T) (caller, *apitest.Service) {
	s := apitest.New()
	return caller{t, apitest.Handler(t, s)}, s
}

// esc makes an id one path segment.
func esc(id string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.PathEscape(id), "+", "%2B"), ".", "%2E")
}

const mesh = `{"kind":"mesh"}`
