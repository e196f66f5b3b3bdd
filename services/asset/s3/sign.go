package s3

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tombstone-project/tombstone/services/asset"
)

var _ asset.Signer = (*Store)(nil)

// SignPut implements asset.Signer. The length is signed, so that the store refuses a body of another.
func (s *Store) SignPut(ctx context.Context, bucket, key string, bytes int64, until time.Time) (asset.Signed, error) {
	if key == "" {
		return asset.Signed{}, asset.ErrEmptyKey
	}
	in := &s3.PutObjectInput{Bucket: &bucket, Key: &key}
	if bytes > 0 {
		in.ContentLength = &bytes
	}
	lasting, err := lasting(until)
	if err != nil {
		return asset.Signed{}, err
	}
	return signed(s3.NewPresignClient(s.client(bucket)).PresignPutObject(ctx, in, lasting))
}

// SignGet implements asset.Signer.
func (s *Store) SignGet(ctx context.Context, bucket, key string, until time.Time) (asset.Signed, error) {
	if key == "" {
		return asset.Signed{}, asset.ErrEmptyKey
	}
	lasting, err := lasting(until)
	if err != nil {
		return asset.Signed{}, err
	}
	return signed(s3.NewPresignClient(s.client(bucket)).PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key}, lasting))
}

// lasting makes a URL end at a time. The signer's own clock says in whole seconds when it begins; what it is behind or ahead
// of the clock that made the deadline goes into the time that the URL lasts.
func lasting(until time.Time) (func(*s3.PresignOptions), error) {
	from := time.Now().UTC().Truncate(time.Second)
	left := until.Sub(from)
	if left < time.Second {
		return nil, fmt.Errorf("sign a URL until %s: that is over by this machine's clock", until.Format(time.RFC3339))
	}
	return func(o *s3.PresignOptions) {
		o.Expires = left
		o.Presigner = begun{o.Presigner, from}
	}, nil
}

// begun signs as of a time.
type begun struct {
	s3.HTTPPresignerV4
	from time.Time
}

// PresignHTTP signs as of the time that the deadline was reckoned from, and not a moment later.
func (b begun) PresignHTTP(ctx context.Context, credentials aws.Credentials, r *http.Request, payloadHash, service, region string,
	_ time.Time, options ...func(*v4.SignerOptions)) (string, http.Header, error) {
	return b.HTTPPresignerV4.PresignHTTP(ctx, credentials, r, payloadHash, service, region, b.from, options...)
}

// signed takes from an answer what its sender must send; every HTTP client sends the host by itself.
func signed(r *v4.PresignedHTTPRequest, err error) (asset.Signed, error) {
	if err != nil {
		return asset.Signed{}, fmt.Errorf("sign a URL: %w", keyless(err))
	}
	out := asset.Signed{URL: r.URL, Method: r.Method, Headers: map[string]string{}}
	for name, values := range r.SignedHeader {
		if !strings.EqualFold(name, "Host") {
			out.Headers[name] = strings.Join(values, ",")
		}
	}
	return out, nil
}
