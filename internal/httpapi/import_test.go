package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestImport(t *testing.T) {
	c, _ := serve(t)
	lines := `{"id":"a/b","kind":"mesh"}` + "\n{oops\n" + `{"id":"c","kind":"no-such-kind"}` + "\n" + `{"id":"d","kind":"mesh"}`
	got := c.call("POST", "/v1/assets", lines, "Content-Type", "application/x-ndjson").want(200).json()
	faults, _ := got["errors"].([]any)
	if got["created"] != 2.0 || got["changed"] != 0.0 || got["failed"] != 2.0 || len(faults) != 2 {
		t.Fatalf("got %v", got)
	}
	if first, _ := faults[0].(map[string]any); first["line"] != 2.0 {
		t.Errorf("the first fault: %v", first)
	}
	c.call("GET", "/v1/assets/a%2Fb", "").want(200)
	if got := c.call("POST", "/v1/assets", "", "Content-Type", "application/x-ndjson; charset=utf-8").want(200).json(); got["errors"] == nil {
		t.Errorf("an empty import: %v", got)
	}
}

// firstLine tells when it has the first line of an import, and then reads the rest.
type firstLine struct {
	*apitest.Service
	seen chan string
}

func (f firstLine) ImportAssets(_ context.Context, lines io.Reader) (dependency.ImportResult, error) {
	scanner := bufio.NewScanner(lines)
	count := 0
	for scanner.Scan() {
		if count == 0 {
			f.seen <- scanner.Text()
		}
		count++
	}
	return dependency.ImportResult{Created: count}, scanner.Err()
}

func TestImportIsStreamedAndMayBeLarge(t *testing.T) {
	s := apitest.New()
	service := firstLine{s, make(chan string, 1)}
	url := apitest.Serve(t, s, func(cfg *httpapi.Config) { cfg.Dependency = service })
	lines, w := io.Pipe()
	go func() {
		_, _ = fmt.Fprintln(w, "first")
		if got := <-service.seen; got != "first" { // before the rest is sent
			t.Errorf("the first line is %q", got)
		}
		for range 5000 {
			_, _ = fmt.Fprintln(w, strings.Repeat("x", 1000))
		}
		_ = w.Close()
	}()
	res, err := http.Post(url+"/v1/assets", "application/x-ndjson", lines)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 || !strings.Contains(string(text), `"created":5001`) {
		t.Errorf("%d %s %v", res.StatusCode, text, err)
	}
}

func TestABodyThatDoesNotComeEndsTheRequest(t *testing.T) {
	url := apitest.Serve(t, apitest.New(), func(cfg *httpapi.Config) { cfg.RequestTimeout = 20 * time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "PUT /v1/assets/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != 422 || res.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("got %s", res.Status)
	}
}
