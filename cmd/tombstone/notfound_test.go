package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

// H-79: no 404 is taken for success, whoever says it: of an asset that is not there or is another's, of a path that is not ours, of
// a page of a proxy.
func TestNo404IsTakenForSuccess(t *testing.T) {
	url := apitest.Serve(t, apitest.New(), func(cfg *httpapi.Config) { cfg.Auth = apitest.Callers{"secret": {Subject: "a", Owner: "red"}} })
	t.Setenv("TOMBSTONE_TOKEN", "secret")
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer proxy.Close()
	for _, args := range [][]string{{"delete", "k4-1"}, {"delete", "k4-1", "--json"}, {"delete", "k4-1", "k4-2"}, {"delete", "k4-1", "--dry-run"}, {"delete", "k4-1", "--part", "description"}} {
		t.Setenv("TOMBSTONE_URL", url)
		if r := tombstone(t, args...); r.code != exitFailed || r.err == "" {
			t.Errorf("%v of nothing: exit %d, %q", args, r.code, r.err)
		}
		t.Setenv("TOMBSTONE_URL", url+"/wrong/path")
		if r := tombstone(t, args...); r.code != exitFailed || r.err == "" {
			t.Errorf("%v at a wrong path: exit %d, %q", args, r.code, r.err)
		}
		t.Setenv("TOMBSTONE_URL", proxy.URL)
		tombstone(t, args...).fails(exitFailed, "not as Tombstone does", "text/html")
	}
}
