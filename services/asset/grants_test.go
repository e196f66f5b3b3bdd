package asset_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// signer writes down what it signs.
type signer struct{ signed []string }

func (s *signer) sign(method, bucket, key string, bytes int64, until time.Time) (asset.Signed, error) {
	s.signed = append(s.signed, fmt.Sprint(method, " ", bucket, " ", key, " ", bytes, " ", until.Format(time.RFC3339Nano)))
	return asset.Signed{URL: "http://" + bucket + "/" + key, Method: method, Headers: map[string]string{"X": "y"}}, nil
}

func (s *signer) SignPut(_ context.Context, bucket, key string, bytes int64, until time.Time) (asset.Signed, error) {
	return s.sign("PUT", bucket, key, bytes, until)
}

func (s *signer) SignGet(_ context.Context, bucket, key string, until time.Time) (asset.Signed, error) {
	return s.sign("GET", bucket, key, 0, until)
}

// granting is a service whose gate gives every right until a minute after the start.
func (w *world) granting(kind, generation string) (*asset.Service, *signer) {
	w.admitting(kind, generation)
	w.gate.grant = func(r events.GrantRequest) (events.Granted, error) {
		return events.Granted{Admitted: events.Admitted{Owner: "acme", Kind: kind, Generation: generation}, Until: start.Truncate(time.Second).Add(time.Minute)}, nil
	}
	s := &signer{}
	w.config.Signer = s
	return asset.NewService(w.config), s
}

func TestAnUploadIsSignedForWhatTheGraphGranted(t *testing.T) {
	w := newWorld(t)
	service, signer := w.granting("mesh", gen1)
	size := int64(7)
	got, err := service.Upload(t.Context(), admission(""), asset.ObjectRequest{Part: "payload", Name: "sub/x.bin", TTL: time.Second}, &size)
	if err != nil {
		t.Fatal(err)
	}
	key, until := "payload/a/"+gen1+"/sub/x.bin", start.Truncate(time.Second).Add(time.Minute)
	w.same("grant", got, asset.Grant{URL: "http://assets/" + key, Method: "PUT", Headers: map[string]string{"X": "y"}, Key: key, ExpiresAt: until})
	if _, err := service.Upload(t.Context(), admission(""), asset.ObjectRequest{Part: "thumbnail"}, nil); err != nil {
		t.Fatal(err)
	}
	w.same("signed", signer.signed, []string{
		"PUT assets " + key + " 7 " + until.Format(time.RFC3339), "PUT thumbs thumbs/a/" + gen1 + ".png 0 " + until.Format(time.RFC3339),
	})
}

func TestWithoutAGrantNothingIsSigned(t *testing.T) {
	w := newWorld(t)
	service, signer := w.granting("mesh", gen1)
	asked := 0
	for _, size := range []int64{0, -1, 5<<30 + 1} {
		_, err := service.Upload(t.Context(), admission(""), asset.ObjectRequest{Part: "payload", Name: "x"}, &size)
		refusedAt(t, err, problem.InvalidRequest, "bytes")
	}
	w.gate.grant = func(events.GrantRequest) (events.Granted, error) {
		asked++
		return events.Granted{}, problem.New(problem.NoGrant, "no")
	}
	_, err := service.Upload(t.Context(), admission(""), asset.ObjectRequest{Part: "payload", Name: "x"}, nil)
	refusedAt(t, err, problem.NoGrant, "")
	w.same("asked and signed", []int{asked, len(signer.signed)}, []int{1, 0})
}

func refusedAt(t *testing.T, err error, name problem.Name, field string) {
	t.Helper()
	if p := problem.As(err); p == nil || p.Name != name || p.Field != field {
		t.Errorf("%v, want %s at %q", err, name, field)
	}
}

func TestADownloadLastsAMinuteAtMost(t *testing.T) {
	w := newWorld(t)
	service, signer := w.granting("file", gen1)
	w.gate.admit = func(events.Admission) (events.Admitted, error) {
		return events.Admitted{Owner: "acme", Kind: "file", Generation: gen1, Attributes: map[string]any{"path": "b/c"}}, nil
	}
	second := start.Truncate(time.Second)
	for ttl, want := range map[time.Duration]time.Duration{0: time.Minute, time.Minute: time.Minute, time.Nanosecond: time.Second, 1500 * time.Millisecond: time.Second} {
		got, err := service.Download(t.Context(), admission(""), asset.ObjectRequest{Part: "content", TTL: ttl})
		if err != nil || !got.ExpiresAt.Equal(second.Add(want)) || got.Key != "files/b/c/a" {
			t.Errorf("%s: %+v, %v; want until %s later", ttl, got, err, want)
		}
	}
	for _, ttl := range []time.Duration{time.Minute + 1, -1} {
		_, err := service.Download(t.Context(), admission(""), asset.ObjectRequest{Part: "content", TTL: ttl})
		refusedAt(t, err, problem.InvalidRequest, "ttl")
	}
	_, err := service.Download(t.Context(), admission(""), asset.ObjectRequest{Part: "note"})
	refusedAt(t, err, problem.UnknownPart, "part")
	if n := len(signer.signed); n != 4 || strings.Contains(fmt.Sprint(signer.signed), "PUT") {
		t.Errorf("signed: %q", signer.signed)
	}
	w.gate.admit = func(events.Admission) (events.Admitted, error) {
		return events.Admitted{}, problem.New(problem.Gone, "no")
	}
	_, err = service.Download(t.Context(), admission(""), asset.ObjectRequest{Part: "content"})
	refusedAt(t, err, problem.Gone, "")
}

func TestLeasesAreTheGraphs(t *testing.T) {
	w := newWorld(t)
	service, _ := w.granting("mesh", gen1)
	lease, err := service.Lease(t.Context(), admission(""), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	w.same("lease", lease, asset.Lease{Token: "a's", ExpiresAt: start.Add(time.Minute)})
	a := admission("")
	a.LeaseToken = lease.Token
	if _, err := service.RenewLease(t.Context(), a, time.Second, nil); err != nil {
		t.Error(err)
	}
	if _, err := service.RenewLease(t.Context(), admission(""), time.Second, nil); !errors.Is(err, problem.LeaseLost) {
		t.Errorf("another token: %v, want lease-lost", err)
	}
}
