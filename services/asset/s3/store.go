// Package s3 keeps objects in S3 or in a store that speaks its protocol. It deletes by version, so that nothing that was
// written after a listing is touched, and never takes an answer's status for the answer: a batch that came back with 200
// still tells of each key.
package s3

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Config of a Store.
type Config struct {
	// Endpoint of the store, a URL; empty: AWS.
	Endpoint string
	// Region; empty: the one of the SDK's usual chain, or us-east-1 at an Endpoint.
	Region string
	// AccessKey and SecretKey; both empty: the SDK's usual chain.
	AccessKey string
	SecretKey string
	// Log gets the warnings of the SDK; nil: they are dropped.
	Log *slog.Logger
	// Roots are trusted by https; nil: the system's.
	Roots *x509.CertPool
	// Timeout of one request, its answer and its repeats included; default 20s: less than what its caller waits, so that a
	// slow request is told from a slow store.
	Timeout time.Duration
	// Backoff is the longest wait between two tries of a request; default 5s.
	Backoff time.Duration
}

// Store is an object store.
type Store struct {
	options s3.Options
	http    *http.Client
	timeout time.Duration
	backoff time.Duration
	modes   modes
	sharing sharing

	mu      sync.Mutex
	clients map[string]*s3.Client // by bucket
	paces   map[string]*pace      // by bucket
}

var _ asset.Blobs = (*Store)(nil)

// maxBatch is what one DeleteObjects call takes, and what one listing gives, by the protocol.
const maxBatch = 1000

// Open prepares a store. It asks nobody, so it succeeds while the store is away; a configuration that cannot work (no
// region, half of a key pair) fails.
func Open(ctx context.Context, c Config) (*Store, error) {
	if (c.AccessKey == "") != (c.SecretKey == "") {
		return nil, errors.New("blobs: access key and secret key belong together; one is missing")
	}
	load := []func(*config.LoadOptions) error{config.WithRegion(c.Region), config.WithLogger(sdkLog(c.Log))}
	if c.AccessKey != "" {
		load = append(load, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, "")))
	}
	loaded, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("configure blobs: %w", err)
	}
	s := &Store{http: newHTTPClient(c.Roots), timeout: cmp.Or(c.Timeout, 20*time.Second), backoff: cmp.Or(c.Backoff, 5*time.Second),
		clients: map[string]*s3.Client{}, paces: map[string]*pace{}}
	s.options = s3.NewFromConfig(loaded).Options()
	s.options.HTTPClient = s.http
	s.options.APIOptions = append(s.options.APIOptions, withWholeAnswers)
	s.options.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	s.options.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	if c.Endpoint != "" {
		s.options.BaseEndpoint = &c.Endpoint
		s.options.UsePathStyle = true
		s.options.Region = cmp.Or(s.options.Region, "us-east-1")
	}
	if s.options.Region == "" {
		return nil, errors.New("TOMBSTONE_BLOBS_REGION is not set: write the region of the buckets (or AWS_REGION), or TOMBSTONE_BLOBS_ENDPOINT for another store than AWS")
	}
	return s, nil
}

// sdkLog keeps what the SDK says in our log; by itself it writes lines of its own form to standard error.
func sdkLog(log *slog.Logger) logging.Logger {
	if log == nil {
		return logging.Nop{}
	}
	return logging.LoggerFunc(func(_ logging.Classification, format string, args ...any) {
		log.Warn("object store: " + fmt.Sprintf(format, args...))
	})
}

// newHTTPClient gives up on a store that takes no connection, soon; requests have a timeout of their own. It follows only
// the redirects that keep a request as it is.
func newHTTPClient(roots *x509.CertPool) *http.Client {
	transport := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = 5 * time.Second }).
		WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = 8 * lanes
			if roots != nil {
				t.TLSClientConfig.RootCAs = roots
			}
		}).
		GetTransport()
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		switch r.Response.StatusCode {
		case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
			return nil
		}
		return http.ErrUseLastResponse
	}}
}

// client gives the client of one bucket. Each has its own count of retries and of throttling, so that a bucket that is down
// or slowed does not slow the others; connections and credentials are shared.
func (s *Store) client(bucket string) *s3.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[bucket]
	if c == nil {
		o := s.options
		o.Retryer = retry.NewAdaptiveMode(func(m *retry.AdaptiveModeOptions) {
			m.StandardOptions = append(m.StandardOptions, func(r *retry.StandardOptions) {
				r.MaxAttempts = 4
				r.MaxBackoff = s.backoff
			})
		})
		c = s3.New(o)
		s.clients[bucket] = c
	}
	return c
}

// Close ends idle connections.
func (s *Store) Close() { s.http.CloseIdleConnections() }

// Ping asks for the list of buckets. An identity that may not list them has been answered all the same.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	_, err := s.client("").ListBuckets(ctx, &s3.ListBucketsInput{MaxBuckets: aws.Int32(1)})
	if err == nil || code(err) == "AccessDenied" {
		return nil
	}
	return fault("ping blobs", "", err)
}
