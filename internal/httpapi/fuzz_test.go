package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/tombstone-project/tombstone/policy"
)

// Whatever a header of preferences or conditions says, it means a time within bounds, and one generation or none.
func FuzzHeaders(f *testing.F) {
	f.Add("wait=5", `"01a22e97-274c-7b47-a9a0-bf428ebf5a5e"`)
	f.Add(`respond-async; wait="99999999999"`, "*")
	f.Add("wait=-1,wait=3", `W/"x"`)
	f.Add("wait", `"a", "b"`)
	f.Add("WAIT = 1e9;;,=", `"`)
	f.Fuzz(func(t *testing.T, prefer, match string) {
		if wait := preferredWait([]string{prefer}); wait < 0 || wait > maxWait {
			t.Fatalf("%q: %v", prefer, wait)
		}
		g, ok := generation(match)
		switch {
		case !ok:
		case g == "" && match != "" && match != "*":
			t.Fatalf("%q means any", match)
		case g != "" && match != g && match != `"`+g+`"`:
			t.Fatalf("%q means %q", match, g)
		}
	})
}

// An id reaches its handler as it was escaped into the path, whatever it holds, and no other path leads there.
func FuzzPathIDs(f *testing.F) {
	for _, id := range []string{"a", "a/b", "..", "%2F", "a b", "?x#y", "🦊", "%", "a%00b", "+", ";", `\`} {
		f.Add(id)
	}
	mux := chi.NewMux()
	mux.Use(keepEscapedPath)
	var got []string
	mux.Get("/v1/assets/{id}", func(_ http.ResponseWriter, r *http.Request) {
		raw := chi.URLParam(r, "id")
		id, err := url.PathUnescape(raw)
		if err != nil {
			id = "error: " + err.Error()
		}
		got = append(got, id)
	})
	f.Fuzz(func(t *testing.T, id string) {
		if policy.ValidateID(id) != nil {
			return
		}
		u, err := url.Parse("http://localhost/v1/assets/" + url.PathEscape(id))
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", strings.NewReader(""))
		r.URL = u
		mux.ServeHTTP(httptest.NewRecorder(), r)
		if len(got) != 1 || got[0] != id {
			t.Fatalf("%q arrived as %q", id, got)
		}
	})
}
