package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

// events gives the types of the events that come from a stream until it ends.
func events(t *testing.T, body io.Reader) (types []string) {
	t.Helper()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var item struct{ Type, Asset string }
		if err := json.Unmarshal([]byte(data), &item); err != nil || item.Asset != "a" {
			t.Fatalf("event %q: %v", data, err)
		}
		types = append(types, item.Type)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return types
}

func TestFollow(t *testing.T) {
	s := apitest.New()
	s.Grace = time.Hour
	c := caller{t, apitest.Handler(t, s)}
	did := c.deleted("a")
	url := apitest.Serve(t, s, func(cfg *httpapi.Config) { cfg.RequestTimeout = time.Minute })
	res, err := http.Get(url + "/v1/deletions/" + did + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if media := res.Header.Get("Content-Type"); res.StatusCode != 200 || media != "text/event-stream" {
		t.Fatalf("%s, %s", res.Status, media)
	}
	c.call("POST", "/v1/deletions/"+did+"/cancel", "").want(200) // the stream is open already
	want := []string{"tombstone.deletion.requested.v1", "tombstone.deletion.cancelled.v1"}
	if diff := cmp.Diff(want, events(t, res.Body)); diff != "" {
		t.Error(diff)
	}
	c.call("GET", "/v1/deletions/"+nobody+"/events", "").problem(404, "not-found", "")
	if a := c.call("HEAD", "/v1/deletions/"+did+"/events", "").want(200); a.Body != "" {
		t.Errorf("HEAD: %q", a.Body)
	}
}

func TestFollowingDoesNotKeepTheServerFromStopping(t *testing.T) {
	s := apitest.New()
	s.Grace = time.Hour
	h := apitest.Handler(t, s)
	did := caller{t, h}.deleted("a")
	server := httpapi.NewServer(h, slog.New(slog.DiscardHandler))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(l) }()
	res, err := http.Get("http://" + l.Addr().String() + "/v1/deletions/" + did + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := <-stopped; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("serve: %v", err)
	}
	if got := events(t, res.Body); len(got) != 1 {
		t.Errorf("events before the stop: %v", got)
	}
}
