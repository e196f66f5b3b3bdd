package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/time/rate"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// OIDC says what tokens of an issuer must hold, and which of their claims tell who the caller is.
type OIDC struct {
	// Audience must be among the token's; required.
	Audience string
	// OwnerClaim names the owner that the caller acts for. Default "owner".
	OwnerClaim string
	// RolesClaim lists the caller's roles: an array, or words with spaces between them. Default "roles". Dots lead into objects, unless
	// there is a claim of the whole name.
	RolesClaim string
	// OperatorRole is the role of operators there. Default "operator".
	OperatorRole string
	// Transport reaches the issuer; nil: http.DefaultTransport.
	Transport http.RoundTripper
}

const (
	// issuerTimeout bounds one request to the issuer.
	issuerTimeout = 5 * time.Second
	// issuerRetry is between two tries to reach an issuer that does not answer.
	issuerRetry = time.Second
	// keyFetches is how many requests to the issuer may come at once, and one a second after that: a token with a key that is not
	// known makes us ask, and anybody can make one.
	keyFetches = 10
)

// algorithms are the signatures that are taken: those that need the issuer's private key.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// issuer authenticates by tokens of an OpenID Connect issuer. It asks that for its keys at the first token, and again when one
// is signed with a key that is not known.
type issuer struct {
	url    string
	o      OIDC
	log    *slog.Logger
	client *http.Client

	mu       sync.Mutex // one discovery at a time
	verifier *oidc.IDTokenVerifier
	failed   time.Time // when the last discovery failed
}

// newIssuer asks the issuer nothing yet.
func newIssuer(url string, o OIDC, log *slog.Logger) (*issuer, error) {
	if o.Audience == "" {
		return nil, errors.New("tokens of an issuer need an audience: set TOMBSTONE_AUTH_AUDIENCE")
	}
	o.OwnerClaim, o.RolesClaim, o.OperatorRole = cmp.Or(o.OwnerClaim, "owner"), cmp.Or(o.RolesClaim, "roles"), cmp.Or(o.OperatorRole, roleOperator)
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	asking := limited{o.Transport, rate.NewLimiter(rate.Every(time.Second), keyFetches)}
	return &issuer{url: url, o: o, log: log, client: &http.Client{Timeout: issuerTimeout, Transport: asking}}, nil
}

// checkIssuer says what is wrong with the address of an issuer.
func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("write oidc: and the address of the issuer, like oidc:https://login.example.com/realm")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return errors.New("the address of an issuer begins with https://, but on loopback")
	}
	return nil
}

// Authenticate reads the bearer token.
func (i *issuer) Authenticate(r *http.Request) (dependency.Caller, error) {
	token, ok := bearer(r.Header.Get("Authorization"))
	if !ok {
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "send a token: Authorization: Bearer TOKEN")
	}
	verifier, err := i.discover(r.Context())
	if err != nil {
		return dependency.Caller{}, i.away(err)
	}
	var fault error
	good, err := verifier.Verify(context.WithValue(r.Context(), faultKey{}, &fault), token)
	expired := (*oidc.TokenExpiredError)(nil)
	switch {
	case fault != nil:
		return dependency.Caller{}, i.away(fault)
	case errors.As(err, &expired):
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "this token has expired")
	case err != nil:
		i.log.Debug("token refused", "error", err)
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "this is not a token of the issuer for this service")
	}
	claims := map[string]any{}
	if err := good.Claims(&claims); err != nil {
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "the claims of this token cannot be read")
	}
	return i.o.caller(good.Subject, claims)
}

// away is the refusal while the issuer does not answer. The log has been told.
func (i *issuer) away(err error) error {
	return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "the issuer of tokens does not answer; try again").With("store", "issuer"), err)
}

// discover asks the issuer for its configuration, until it has answered once.
func (i *issuer) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.verifier != nil {
		return i.verifier, nil
	}
	if time.Since(i.failed) < issuerRetry {
		return nil, errors.New("it did not answer a moment ago")
	}
	with := oidc.ClientContext(context.WithoutCancel(ctx), i.client) // the client bounds the time; the keys outlive this request
	provider, err := oidc.NewProvider(with, i.url)
	var found struct {
		Keys string `json:"jwks_uri"`
	}
	if err == nil {
		err = provider.Claims(&found)
	}
	if err != nil {
		i.failed = time.Now()
		i.log.Warn("the issuer of tokens does not answer as one", "issuer", i.url, "error", err)
		return nil, err
	}
	keys := watchedKeys{oidc.NewRemoteKeySet(with, found.Keys), i.log}
	i.verifier = oidc.NewVerifier(i.url, keys, &oidc.Config{ClientID: i.o.Audience, SupportedSigningAlgs: algorithms})
	return i.verifier, nil
}

// faultKey is the place in a context where a fault of the issuer is noted: the verifier's error does not carry it.
type faultKey struct{}

// watchedKeys tells a bad signature from keys that cannot be had.
type watchedKeys struct {
	*oidc.RemoteKeySet
	log *slog.Logger
}

// VerifySignature implements oidc.KeySet.
func (k watchedKeys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.RemoteKeySet.VerifySignature(ctx, jwt)
	if asking := (*url.Error)(nil); errors.As(err, &asking) {
		k.log.Warn("the keys of the issuer cannot be had", "error", err)
		*ctx.Value(faultKey{}).(*error) = err
	}
	return payload, err
}

// limited bounds how often the issuer is asked. A status that is no success is an error, so that it counts as no answer.
type limited struct {
	http.RoundTripper
	limit *rate.Limiter
}

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if !l.limit.Allow() {
		return nil, errors.New("asked too often")
	}
	resp, err := l.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("answered %s", resp.Status)
	}
	return resp, err
}
