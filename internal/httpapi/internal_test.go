package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestPreferredWait(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"wait=20": 20 * time.Second, "respond-async, wait=10": 10 * time.Second, `WAIT="5"`: 5 * time.Second, "wait = 7; foo": 7 * time.Second,
		"": 0, "wait": 0, "wait=": 0, "wait=soon": 0, "wait=-1": 0, "wait=1.5": 0, "waiting=3": 0, "wait=999999": maxWait, "wait=99999999999999": 0,
	} {
		if got := preferredWait([]string{header}); got != want {
			t.Errorf("%q: expected %s, got %s", header, want, got)
		}
	}
}

func TestGeneration(t *testing.T) {
	for header, want := range map[string]string{"": "", "*": "", `"abc"`: "abc", "abc": "abc"} {
		if got, ok := generation(header); !ok || got != want {
			t.Errorf("%q: got %q, %v", header, got, ok)
		}
	}
	for _, header := range []string{`"`, `""`, `"abc`, `abc"`, `W/"abc"`, "W/abc", `"a", "b"`, "a,b", `"a"b"`} {
		if got, ok := generation(header); ok {
			t.Errorf("%q: got %q instead of a refusal", header, got)
		}
	}
}

// deadlines is a writer that remembers the read deadlines set on it.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func TestABodysDeadlineEndsWithIt(t *testing.T) {
	s := &server{cfg: Config{RequestTimeout: time.Minute}}
	soon := func(at time.Time) bool { return time.Until(at) > 30*time.Second && time.Until(at) <= time.Minute }
	last := func(handler http.HandlerFunc) time.Time {
		w := &deadlines{ResponseWriter: httptest.NewRecorder()}
		r := httptest.NewRequest(http.MethodPut, "/v1/assets/a", strings.NewReader("text"))
		s.limitBodies(handler).ServeHTTP(w, r)
		if len(w.set) == 0 || !soon(w.set[0]) {
			t.Fatalf("deadlines %v", w.set)
		}
		return w.set[len(w.set)-1]
	}
	if at := last(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) }); !at.IsZero() {
		t.Errorf("a body that was read leaves the deadline %s", at)
	}
	if at := last(func(http.ResponseWriter, *http.Request) {}); !soon(at) {
		t.Errorf("a body that was not read leaves the deadline %s", at)
	}
}
