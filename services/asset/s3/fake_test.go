package s3_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/asset/s3"
)

// fake is a store that shows what the real ones of our tests do not: it notes each request and answers as it is told.
type fake struct {
	answer func(r request) (status int, body string)

	mu       sync.Mutex
	requests []request
}

// request is one request as the store saw it.
type request struct {
	method string
	path   string // decoded, with the bucket
	query  string
	header http.Header
	body   string
}

// is tells requests apart by their method and the beginning of their query.
func (r request) is(method, query string) bool {
	return r.method == method && strings.HasPrefix(r.query, query)
}

// serve starts the fake and opens a store on it.
func serve(t *testing.T, answer func(r request) (int, string)) (*fake, *s3.Store) {
	t.Helper()
	f := &fake{answer: answer}
	return f, open(t, s3.Config{Endpoint: serveFake(t, f), Region: "eu-central-1", AccessKey: "a", SecretKey: "s", Backoff: 20 * time.Millisecond})
}

func serveFake(t *testing.T, f *fake) (endpoint string) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // of a test
	seen := request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header, string(body)}
	f.mu.Lock()
	f.requests = append(f.requests, seen)
	f.mu.Unlock()
	status, answer := f.answer(seen)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer) // a client that is gone is the test's business
}

// all gives the requests so far.
func (f *fake) all() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]request(nil), f.requests...)
}

// failure is the answer for an error code.
func failure(code string) string {
	return fmt.Sprintf("<Error><Code>%s</Code><Message>told so</Message></Error>", code)
}

// batch is what a DeleteObjects request asks for.
type batch struct {
	Objects []struct {
		Key       string
		VersionID string `xml:"VersionId"`
	} `xml:"Object"`
}

func batchOf(t *testing.T, r request) batch {
	t.Helper()
	var b batch
	if err := xml.Unmarshal([]byte(r.body), &b); err != nil {
		t.Fatalf("batch %q: %v", r.body, err)
	}
	return b
}

const emptyBatch = "<DeleteResult></DeleteResult>"
