package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tombstone-project/tombstone/internal/auth"
	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

// listen serves a real listener with these limits.
func listen(t *testing.T, request, headers time.Duration) string {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	who, err := auth.New(auth.Setting{Method: auth.MethodNone}, auth.OIDC{}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	h, err := httpapi.New(httpapi.Config{Dependency: apitest.New(), Auth: auth.Limited(who, auth.Rate{PerSecond: 0.001, Burst: 3}), Metrics: http.NotFoundHandler(),
		Registerer: prometheus.NewRegistry(), RequestTimeout: request})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httpapi.NewServer(h, quiet)
	s.ReadHeaderTimeout = headers
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-served })
	return l.Addr().String()
}

// drip sends a beginning and then a byte every now and then, and gives what the server answers before it hangs up.
func drip(t *testing.T, address, beginning string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, beginning); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if _, err := io.WriteString(conn, "a"); err != nil {
					return
				}
			}
		}
	}()
	text, _ := io.ReadAll(conn) // ends when the server hangs up; a reset is an end too
	close(stop)
	<-stopped
	return string(text)
}

func TestWhoSendsByteByByteIsCutOff(t *testing.T) {
	const short = 300 * time.Millisecond
	t.Run("headers", func(t *testing.T) {
		if got := drip(t, listen(t, time.Hour, short), "GET /v1/assets HTTP/1.1\r\nHost: localhost\r\nX: "); strings.Contains(got, "200 OK") {
			t.Errorf("answered %q", got)
		}
	})
	t.Run("a body", func(t *testing.T) {
		got := drip(t, listen(t, short, time.Hour), "PUT /v1/assets/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"kind\":\"")
		if !strings.HasPrefix(got, "HTTP/1.1 422") {
			t.Errorf("answered %q", got)
		}
	})
}

func TestHeadersThatAreTooLargeAreRefused(t *testing.T) {
	address := listen(t, time.Hour, time.Hour)
	for name, header := range map[string]string{"one": "X: " + strings.Repeat("a", 1<<20), "many": strings.Repeat("X: aaaaaaaaaaaaaaaa\r\n", 50_000) + "Y: b"} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = fmt.Fprintf(conn, "GET /v1/assets HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", header) }()
		status, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(status, "HTTP/1.1 431 ") {
			t.Errorf("%s: %q, %v", name, status, err)
		}
		conn.Close()
	}
}

func TestCallersBeyondTheirRateAreTold(t *testing.T) {
	address := "http://" + listen(t, time.Hour, time.Hour)
	get := func(path string) (status int, h http.Header) {
		resp, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode, resp.Header
	}
	for range 3 {
		if status, _ := get("/v1/assets"); status != http.StatusOK {
			t.Fatalf("within the rate: %d", status)
		}
	}
	for _, path := range []string{"/v1/assets", "/v1/admin/pending", "/deletions"} {
		status, h := get(path)
		if status != http.StatusTooManyRequests {
			t.Errorf("%s beyond the rate: %d", path, status)
		}
		if strings.HasPrefix(path, "/v1/") && (h.Get("Retry-After") != "1000" || h.Get("Content-Type") != "application/problem+json") {
			t.Errorf("%s: headers %v", path, h)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/docs"} {
		if status, _ := get(path); status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
	}
}
