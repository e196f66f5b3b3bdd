package s3_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

// strangers are servers that are no S3 store.
var strangers = map[string]http.HandlerFunc{
	"a web page": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html><body>hello</body></html>"))
	},
	"a missing page":       func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html><p>not here<br></html>", 404) },
	"nothing at this path": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
	"an API":               func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"error": "no such route"}`, 404) },
	"another method":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) },
	"somewhere else":       func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
}

func TestAWrongEndpointBlocksAndNamesTheCure(t *testing.T) {
	endpoints := map[string]string{"a name that nobody knows": "http://object-store.invalid:9000"}
	for name, h := range strangers {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		endpoints[name] = server.URL
	}
	plain := httptest.NewServer(strangers["a web page"])
	t.Cleanup(plain.Close)
	endpoints["HTTPS where HTTP is spoken"] = strings.Replace(plain.URL, "http:", "https:", 1)
	secure := httptest.NewUnstartedServer(strangers["a web page"])
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	endpoints["a certificate that nobody trusts"] = secure.URL
	for name, endpoint := range endpoints {
		t.Run(name, func(t *testing.T) {
			s := open(t, s3.Config{Endpoint: endpoint, Region: "r", AccessKey: "a", SecretKey: "s", Backoff: time.Millisecond})
			_, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/"}}, 10)
			errs = append(errs, s.Delete(t.Context(), "assets", []asset.Version{version("k", "v")})...)
			for i, err := range errs {
				b := asset.AsBlocked(err)
				if b == nil || b.Reason != asset.ReasonEndpointWrong || !strings.Contains(b.Error(), "TOMBSTONE_BLOBS_ENDPOINT") {
					t.Errorf("call %d: %v, want %s", i, err, asset.ReasonEndpointWrong)
				}
			}
		})
	}
}

// H-42: credentials that end while a deletion runs are renewed.
func TestCredentialsThatEndAreRenewed(t *testing.T) {
	var given atomic.Int32
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		key := string('A' + given.Add(1) - 1)
		_ = json.NewEncoder(w).Encode(map[string]any{"AccessKeyId": key, "SecretAccessKey": "s", "Token": "t", "Expiration": time.Now().Add(time.Hour)})
	}))
	t.Cleanup(source.Close)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", source.URL)
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")

	server := s3test.Start(t)
	server.CreateBucket("assets", s3test.Enabled)
	for i := range 2500 {
		server.Put("assets", fmt.Sprint("a/tk-1/", i), "1")
	}
	var last string // credentials are good for one batch
	server.Meddle = func(r s3test.Request) *s3test.Answer {
		if r.Operation != "DeleteObjects" {
			return nil
		}
		_, key, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ = strings.Cut(key, "/")
		if key == last {
			return s3test.Failure(400, "ExpiredToken")
		}
		last = key
		return nil
	}
	v := newService(t, server)
	v.config.Blobs = open(t, s3.Config{Endpoint: server.URL, Region: "r", Backoff: time.Millisecond})
	objects, bytes := v.erased("tk-1")
	v.counts("each once", objects, bytes, 2500, 2500)
	v.stored()
	if n := given.Load(); n != 3 {
		t.Errorf("credentials were fetched %d times for 3 batches", n)
	}
}
