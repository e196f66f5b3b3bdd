package s3test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Quirks are ways in which a store differs from AWS. The zero value does not.
type Quirks struct {
	// PageSize is the most that one page of a listing holds; 0: 1,000.
	PageSize int
	// RepeatsAtBorders begins each further page with the last entry of the page before.
	RepeatsAtBorders bool
	// DropsMarkers cuts a listing and does not say where it goes on.
	DropsMarkers bool
	// IgnoresMarkers begins every listing at its start.
	IgnoresMarkers bool
	// LosesMarkers ends a listing whose marker is a version that has been deleted since.
	LosesMarkers bool
	// RefusesUploadIDs knows no upload id in the marker of a listing, not even its own.
	RefusesUploadIDs bool
	// NoEncoding does not know encoding-type, and puts a replacement for what XML cannot carry.
	NoEncoding bool
	// WantsMD5 refuses a batch without Content-MD5, and any request with a newer checksum.
	WantsMD5 bool
	// Lag is for how many listings of its bucket a deleted version is still listed.
	Lag int
}

// Request is one request as the store saw it.
type Request struct {
	Operation string // "DeleteObjects", …: its name in the S3 API
	Bucket    string
	Key       string
	Header    http.Header
	Query     map[string][]string
	Body      string
}

// Answer is an answer in place of the store's own.
type Answer struct {
	Status int
	Body   string
	// Cut breaks the connection after the body.
	Cut bool
}

// Failure is the answer for an error code.
func Failure(status int, code string) *Answer {
	return &Answer{Status: status, Body: fmt.Sprintf("<Error><Code>%s</Code><Message>told so</Message></Error>", code)}
}

// Server is a store that runs until its test ends.
type Server struct {
	// URL is its address.
	URL string
	// Quirks are set before the first request.
	Quirks Quirks
	// Meddle may answer a request before it has an effect, or wait; nil: the store goes on. Set before the first request.
	Meddle func(r Request) *Answer
	// Spoil may replace what the store answers, after the effect; nil: it stays. Set before the first request.
	Spoil func(r Request, a Answer) *Answer
	// Refuse gives the error code with which one version is not deleted, or nothing. Set before the first request.
	Refuse func(bucket, key, version string) (code string)
	// Now is the store's clock. Set before the first request.
	Now func() time.Time

	passed   atomic.Int64 // by Later, as a time.Duration
	mu       sync.Mutex
	buckets  map[string]*bucket
	ids      int
	last     time.Time
	requests []Request
}

// Start runs a store without buckets.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{buckets: map[string]*bucket{}}
	s.Now = func() time.Time { return time.Now().Add(time.Duration(s.passed.Load())) }
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Later puts the store's clock forward.
func (s *Server) Later(d time.Duration) { s.passed.Add(int64(d)) }

// Requests gives the requests so far of these operations; of all when none is named.
func (s *Server) Requests(operations ...string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	for _, r := range s.requests {
		if len(operations) == 0 || slices.Contains(operations, r.Operation) {
			out = append(out, r)
		}
	}
	return out
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return // the client is gone
	}
	r := Request{Header: h.Header, Query: h.URL.Query(), Body: string(body)}
	r.Bucket, r.Key, _ = strings.Cut(strings.TrimPrefix(h.URL.Path, "/"), "/")
	operation, answer := operationOf(h.Method, r)
	r.Operation = operation
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	a := s.meddled(r)
	if a == nil {
		a = s.answer(r, answer)
		if s.Spoil != nil {
			if spoiled := s.Spoil(r, *a); spoiled != nil {
				a = spoiled
			}
		}
	}
	s.write(w, a)
}

func (s *Server) meddled(r Request) *Answer {
	if s.Meddle == nil {
		return nil
	}
	return s.Meddle(r)
}

func (s *Server) answer(r Request, answer func(*Server, Request) *Answer) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refusal := s.refusal(r); refusal != nil {
		return refusal
	}
	return answer(s, r)
}

// refusal is for what every request needs.
func (s *Server) refusal(r Request) *Answer {
	if signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date")); err == nil && signed.Sub(s.Now()).Abs() > 15*time.Minute {
		return Failure(http.StatusForbidden, "RequestTimeTooSkewed")
	}
	if s.Quirks.WantsMD5 {
		for name := range r.Header {
			if strings.HasPrefix(name, "X-Amz-Checksum") || strings.HasPrefix(name, "X-Amz-Sdk-Checksum") || name == "X-Amz-Trailer" {
				return Failure(http.StatusNotImplemented, "NotImplemented")
			}
		}
		if r.Operation == "DeleteObjects" && r.Header.Get("Content-Md5") == "" {
			return Failure(http.StatusBadRequest, "InvalidRequest")
		}
	}
	if r.Operation != "ListBuckets" && r.Operation != "CreateBucket" && s.buckets[r.Bucket] == nil {
		return Failure(http.StatusNotFound, "NoSuchBucket")
	}
	return nil
}

func (s *Server) write(w http.ResponseWriter, a *Answer) {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body) // a client that is gone is its test's business
	if a.Cut {
		panic(http.ErrAbortHandler)
	}
}

// operations are what the store knows, by method and by what tells them in the query; the empty query comes last.
var operations = []struct {
	method, query, name string
	answer              func(*Server, Request) *Answer
}{
	{http.MethodGet, "versions", "ListObjectVersions", (*Server).listVersions},
	{http.MethodGet, "uploads", "ListMultipartUploads", (*Server).listUploads},
	{http.MethodGet, "versioning", "GetBucketVersioning", (*Server).versioning},
	{http.MethodGet, "object-lock", "GetObjectLockConfiguration", (*Server).lockConfiguration},
	{http.MethodGet, "replication", "GetBucketReplication", (*Server).replication},
	{http.MethodGet, "retention", "GetObjectRetention", (*Server).retention},
	{http.MethodGet, "legal-hold", "GetObjectLegalHold", (*Server).legalHold},
	{http.MethodPost, "delete", "DeleteObjects", (*Server).deleteObjects},
	{http.MethodDelete, "uploadId", "AbortMultipartUpload", (*Server).abortUpload},
	{http.MethodDelete, "", "DeleteObject", (*Server).deleteObject},
	{http.MethodPut, "", "PutObject", (*Server).putObject},
}

func operationOf(method string, r Request) (name string, answer func(*Server, Request) *Answer) {
	if method == http.MethodGet && r.Bucket == "" {
		return "ListBuckets", func(*Server, Request) *Answer {
			return ok("<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>")
		}
	}
	for _, o := range operations {
		if _, asked := r.Query[o.query]; o.method == method && (asked || o.query == "") {
			return o.name, o.answer
		}
	}
	return method, func(*Server, Request) *Answer { return Failure(http.StatusNotImplemented, "NotImplemented") }
}

func ok(body string) *Answer { return &Answer{Status: http.StatusOK, Body: body} }
