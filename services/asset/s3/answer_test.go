package s3_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

// badAnswers are answers with status 200 that say nothing; foreign are those of a server that is no S3 store.
var badAnswers = map[string]struct {
	body    string
	cut     bool
	foreign bool
}{
	"an error":                          {body: "<Error><Code>InternalError</Code></Error>"},
	"nothing":                           {},
	"white space":                       {body: " \n"},
	"a declaration alone":               {body: `<?xml version="1.0"?>`},
	"half of the first element":         {body: "<ListVersionsRes"},
	"no end":                            {body: "<ListVersionsResult><IsTruncated>false</IsTruncated>"},
	"a connection that breaks":          {body: "<ListVersionsResult>", cut: true},
	"a page for people":                 {body: "<!DOCTYPE html><html><body>Welcome</body></html>", foreign: true},
	"text":                              {body: "ok", foreign: true},
	"the answer to some other question": {body: "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>", foreign: true},
}

// TestAnAnswerThatSaysNothingIsNoSuccess gives bad answers twice, then good ones; and then bad ones for ever.
//
// H-38, H-43: what is no answer is neither an empty listing nor a deletion.
func TestAnAnswerThatSaysNothingIsNoSuccess(t *testing.T) {
	for name, bad := range badAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, operation := range []string{"ListObjectVersions", "ListMultipartUploads", "DeleteObjects", "GetBucketVersioning"} {
				if strings.HasPrefix(bad.body, "<ListVersionsRes") && operation != "ListObjectVersions" {
					continue
				}
				server := s3test.Start(t)
				server.CreateBucket("assets", s3test.Enabled)
				server.Put("assets", "p/a", "1")
				var left atomic.Int32 // bad answers, which requests at the same time share; below 0: without end
				left.Store(2)
				server.Meddle = func(r s3test.Request) *s3test.Answer {
					if n := left.Load(); r.Operation != operation || n == 0 || n > 0 && !left.CompareAndSwap(n, n-1) {
						return nil
					}
					return &s3test.Answer{Status: 200, Body: bad.body, Cut: bad.cut}
				}
				err := touch(t, server)
				switch blocked := asset.AsBlocked(err); {
				case bad.foreign && (blocked == nil || blocked.Reason != asset.ReasonEndpointWrong):
					t.Errorf("%s: %v, want %s", operation, err, asset.ReasonEndpointWrong)
				case !bad.foreign && err != nil:
					t.Errorf("%s: %v, want another try", operation, err)
				}
				left.Store(-1)
				if err := touch(t, server); err == nil {
					t.Errorf("%s: no error where there is never an answer", operation)
				}
			}
		})
	}
}

// touch lists a place and deletes what is there, in a way that needs every call that erasing makes.
func touch(t *testing.T, server *s3test.Server) error {
	t.Helper()
	s := openOn(t, server)
	listings, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/"}}, 10)
	if errs[0] != nil {
		return errs[0]
	}
	if len(listings[0].Versions) != 1 {
		t.Errorf("%d versions listed, want 1", len(listings[0].Versions))
	}
	if errs := s.Delete(t.Context(), "assets", []asset.Version{{Key: "p/a", ID: "never"}}); errs[0] != nil {
		return errs[0]
	}
	_, err := s.Mode(t.Context(), "assets")
	return err
}

// A store on files that walks its folders while others delete there answers 500.
func TestAListingThatMeetsADeletionIsMadeAgain(t *testing.T) {
	server := s3test.Start(t)
	server.CreateBucket("assets", s3test.Enabled)
	server.Put("assets", "p/a", "1")
	answers := []*s3test.Answer{s3test.Failure(500, "InternalError"), s3test.Failure(500, "InternalError"), nil}
	server.Meddle = func(r s3test.Request) *s3test.Answer {
		if r.Operation != "ListObjectVersions" || len(answers) == 0 {
			return nil
		}
		a := answers[0]
		answers = answers[1:]
		return a
	}
	place := []asset.Place{{Bucket: "assets", Prefix: "p/"}}
	listings, errs := openOn(t, server).List(t.Context(), place, 10)
	if errs[0] != nil || len(listings[0].Versions) != 1 {
		t.Errorf("%v, %v; want what is there", listings[0], errs[0])
	}
	server.Meddle = func(s3test.Request) *s3test.Answer { return s3test.Failure(500, "InternalError") }
	_, errs = openOn(t, server).List(t.Context(), place, 10)
	if errs[0] == nil || asset.AsBlocked(errs[0]) != nil {
		t.Errorf("never answered: %v, want a fault that may pass", errs[0])
	}
}
