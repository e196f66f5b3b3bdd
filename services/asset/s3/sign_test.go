package s3_test

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	driver "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3"
)

// do sends a signed request as a client would, and gives the status and the body of the answer.
func do(t *testing.T, signed asset.Signed, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), signed.Method, signed.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range signed.Headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestSignedRequests(t *testing.T) {
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			c := server(t)
			r := raw{driver.New(driver.Options{BaseEndpoint: &c.Endpoint, Region: c.Region, UsePathStyle: true,
				Credentials: credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, "")})}
			testSigned(t, open(t, c), r.newBucket(t, "enabled"))
		})
	}
}

func testSigned(t *testing.T, s *s3.Store, bucket string) {
	until := time.Now().Add(time.Minute).Truncate(time.Second)
	put := func(t *testing.T, key string, bytes int64) asset.Signed {
		t.Helper()
		signed, err := s.SignPut(t.Context(), bucket, key, bytes, until)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	read := func(t *testing.T, key string) (int, string) {
		t.Helper()
		signed, err := s.SignGet(t.Context(), bucket, key, until)
		if err != nil {
			t.Fatal(err)
		}
		return do(t, signed, "")
	}
	t.Run("write and read exactly one key, whatever characters it has", func(t *testing.T) {
		for _, key := range []string{"a/b.bin", "p/a b+c&d%2Fe?f=é\u0301#\"'<>.bin", "p/🦊/..x/%"} {
			if status, answer := do(t, put(t, key, 0), "content of "+key); status != http.StatusOK {
				t.Fatalf("PUT of %q: %d %s", key, status, answer)
			}
			if status, body := read(t, key); status != http.StatusOK || body != "content of "+key {
				t.Errorf("GET of %q: %d %q", key, status, body)
			}
		}
		listings, errs := s.List(t.Context(), []asset.Place{{Bucket: bucket, Prefix: "p/"}}, 10)
		if errs[0] != nil || len(listings[0].Versions) != 2 {
			t.Errorf("listed: %+v, %v", listings[0], errs[0])
		}
	})
	t.Run("a length that was signed is the only one", func(t *testing.T) {
		signed := put(t, "sized", 7)
		if signed.Headers["Content-Length"] != "7" {
			t.Errorf("headers: %v", signed.Headers)
		}
		if status, _ := do(t, signed, "too long by far"); status < 400 {
			t.Errorf("a longer body: %d", status)
		}
		if status, _ := read(t, "sized"); status != http.StatusNotFound {
			t.Errorf("after the refusal: %d, want 404", status)
		}
		if status, answer := do(t, signed, "7 bytes"); status != http.StatusOK {
			t.Errorf("a body of that length: %d %s", status, answer)
		}
	})
	t.Run("for another key or another method it is worth nothing", func(t *testing.T) {
		signed := put(t, "mine", 0)
		other := signed
		other.URL = strings.Replace(signed.URL, "/mine?", "/theirs?", 1)
		if status, _ := do(t, other, "x"); status != http.StatusForbidden {
			t.Errorf("another key: %d, want 403", status)
		}
		other = signed
		other.Method = http.MethodDelete
		if status, _ := do(t, other, ""); status != http.StatusForbidden {
			t.Errorf("another method: %d, want 403", status)
		}
	})
}

func TestASignedRequestEndsAtItsDeadline(t *testing.T) {
	s := open(t, s3.Config{Endpoint: "http://127.0.0.1:1", Region: "eu-central-1", AccessKey: "a", SecretKey: "s"})
	until := time.Now().UTC().Add(90 * time.Second).Truncate(time.Second)
	for name, sign := range map[string]func() (asset.Signed, error){
		"PUT": func() (asset.Signed, error) { return s.SignPut(t.Context(), "bucket", "key", 0, until) },
		"GET": func() (asset.Signed, error) { return s.SignGet(t.Context(), "bucket", "key", until) },
	} {
		signed, err := sign()
		if err != nil || signed.Method != name || len(signed.Headers) != 0 {
			t.Fatalf("%s: %+v, %v", name, signed, err)
		}
		u, err := url.Parse(signed.URL)
		if err != nil || u.Path != "/bucket/key" || u.Host != "127.0.0.1:1" {
			t.Fatalf("%s: %s, %v; want the bucket in the path", name, signed.URL, err)
		}
		begins, err := time.Parse("20060102T150405Z", u.Query().Get("X-Amz-Date"))
		lasts, err2 := strconv.Atoi(u.Query().Get("X-Amz-Expires"))
		if ends := begins.Add(time.Duration(lasts) * time.Second); err != nil || err2 != nil || !ends.Equal(until) {
			t.Errorf("%s ends at %s, want %s (%v, %v)", name, ends, until, err, err2)
		}
	}
	if _, err := s.SignPut(t.Context(), "bucket", "key", 0, time.Now().Add(-time.Second)); err == nil {
		t.Error("a deadline that has passed was signed")
	}
	if _, err := s.SignPut(t.Context(), "bucket", "", 0, until); err == nil {
		t.Error("an empty key was signed")
	}
}
