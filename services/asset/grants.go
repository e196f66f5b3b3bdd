package asset

import (
	"context"
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// maxDownload is how long a URL for reading may last. Reading does not hold a deletion up, so it must not outlive one by much.
const maxDownload = 60 * time.Second

// maxUpload is the largest object that one PUT may make, in bytes (Amazon S3 quotas).
const maxUpload = 5 << 30

// ObjectRequest asks for a URL for one object of a part.
type ObjectRequest struct {
	Part string
	Name string        // below the part's prefix; not looked at where the part is one key
	TTL  time.Duration // 0: the default
}

// Grant is a presigned request.
type Grant struct {
	URL       string            `json:"url"`
	Method    string            `json:"method"`
	Headers   map[string]string `json:"headers"` // to be sent as they are
	Key       string            `json:"key"`
	ExpiresAt time.Time         `json:"expires_at"`
}

// Lease is a worker's right to write to an asset and to change its attributes.
type Lease struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Upload gives a URL for writing one object; with bytes only one of that length. The deadline is on the asset's node before
// the URL is made. The caller is in the admission. Refusals: those of Gate.Grant.
func (s *Service) Upload(ctx context.Context, a events.Admission, r ObjectRequest, bytes *int64) (Grant, error) {
	length := int64(0)
	if bytes != nil {
		if length = *bytes; length < 1 || length > maxUpload {
			return Grant{}, problem.New(problem.InvalidRequest, "bytes is %d; one upload has 1 to %d bytes (5 GiB)", length, int64(maxUpload)).At("bytes")
		}
	}
	granted, err := s.gate.Grant(ctx, events.GrantRequest{Asset: a.Asset, Part: r.Part, Name: r.Name, Owner: a.Owner, Operator: a.Operator, TTL: r.TTL})
	if err != nil {
		return Grant{}, fmt.Errorf("ask the graph: %w", err)
	}
	part, subject, err := s.part(a.Asset, r.Part, granted.Admitted)
	if err != nil {
		return Grant{}, err
	}
	object, err := part.Object(subject, r.Name)
	if err != nil {
		return Grant{}, err
	}
	signed, err := s.signer.SignPut(ctx, object.Bucket, object.Key, length, granted.Until)
	return grantOf(signed, object.Key, granted.Until), err
}

// Download gives a URL for reading one object, whether it is there or not. Refusals: those of Gate.Admit, unknown-part for a
// document, invalid-request, location-too-long.
func (s *Service) Download(ctx context.Context, a events.Admission, r ObjectRequest) (Grant, error) {
	a.Part = r.Part
	admitted, err := s.gate.Admit(ctx, a)
	if err != nil {
		return Grant{}, fmt.Errorf("ask the graph: %w", err)
	}
	part, subject, err := s.part(a.Asset, r.Part, admitted)
	if err != nil {
		return Grant{}, err
	}
	object, err := part.Object(subject, r.Name)
	if err != nil {
		return Grant{}, err
	}
	longest := min(maxDownload, s.policy.Grants.MaxTTL)
	switch {
	case r.TTL == 0:
		r.TTL = min(longest, s.policy.Grants.DefaultTTL)
	case r.TTL < 0 || r.TTL > longest:
		return Grant{}, problem.New(problem.InvalidRequest, "ttl is %s; a download may last above 0 and up to %s", r.TTL, longest).At("ttl")
	}
	until := s.now().UTC().Add(max(r.TTL, time.Second)).Truncate(time.Second)
	signed, err := s.signer.SignGet(ctx, object.Bucket, object.Key, until)
	return grantOf(signed, object.Key, until), err
}

func grantOf(signed Signed, key string, until time.Time) Grant {
	return Grant{URL: signed.URL, Method: signed.Method, Headers: signed.Headers, Key: key, ExpiresAt: until}
}

// Lease takes the lease of an asset; 0 is the policy's default time. Refusals: those of Gate.Lease.
func (s *Service) Lease(ctx context.Context, a events.Admission, ttl time.Duration) (Lease, error) {
	leased, err := s.gate.Lease(ctx, events.LeaseRequest{Asset: a.Asset, Owner: a.Owner, Operator: a.Operator, TTL: ttl})
	if err != nil {
		return Lease{}, fmt.Errorf("ask the graph: %w", err)
	}
	return Lease{Token: leased.Token, ExpiresAt: leased.Until}, nil
}

// RenewLease prolongs the lease whose token is in the admission (0: it ends when it would have), and sets attributes. Refusals:
// those of Gate.Renew.
func (s *Service) RenewLease(ctx context.Context, a events.Admission, ttl time.Duration, attributes map[string]any) (Lease, error) {
	leased, err := s.gate.Renew(ctx, events.RenewRequest{Asset: a.Asset, Token: a.LeaseToken, Owner: a.Owner, Operator: a.Operator, TTL: ttl, Attributes: attributes})
	if err != nil {
		return Lease{}, fmt.Errorf("ask the graph: %w", err)
	}
	return Lease{Token: leased.Token, ExpiresAt: leased.Until}, nil
}
