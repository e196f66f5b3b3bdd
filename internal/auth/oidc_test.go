package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tombstone-project/tombstone/internal/auth/oidctest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// withIssuer makes an authenticator for tokens of the issuer.
func withIssuer(t *testing.T, i *oidctest.Issuer, o OIDC) *issuer {
	t.Helper()
	o.Audience = "tombstone"
	a, err := newIssuer(i.URL(), o, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.client.CloseIdleConnections)
	return a
}

func who(a Authenticator, token string) (dependency.Caller, error) {
	return a.Authenticate(requestTo("example.com", "Bearer "+token))
}

func TestTokensOfAnIssuerNameTheCaller(t *testing.T) {
	i := oidctest.New(t)
	byDefault := OIDC{}
	keycloak := OIDC{OwnerClaim: "tenant", RolesClaim: "realm_access.roles", OperatorRole: "tombstone-admin"}
	auth0 := OIDC{OwnerClaim: "https://example.com/owner", RolesClaim: "scope"}
	for name, c := range map[string]struct {
		o      OIDC
		claims map[string]any
		want   dependency.Caller
		fault  string
	}{
		"a user":                      {byDefault, nil, dependency.Caller{Subject: "someone", Owner: "acme"}, ""},
		"one of several audiences":    {byDefault, map[string]any{"aud": []string{"other", "tombstone"}}, dependency.Caller{Subject: "someone", Owner: "acme"}, ""},
		"an operator":                 {byDefault, map[string]any{"roles": []string{"x", "operator"}}, dependency.Caller{Subject: "someone", Owner: "acme", Operator: true}, ""},
		"an operator without owner":   {byDefault, map[string]any{"roles": "operator", "owner": nil}, dependency.Caller{Subject: "someone", Owner: "default", Operator: true}, ""},
		"another role":                {byDefault, map[string]any{"roles": []any{"operators", 7}}, dependency.Caller{Subject: "someone", Owner: "acme"}, ""},
		"claims inside others":        {keycloak, map[string]any{"tenant": "t", "realm_access": map[string]any{"roles": []string{"tombstone-admin"}}}, dependency.Caller{Subject: "someone", Owner: "t", Operator: true}, ""},
		"claims with dots, a scope":   {auth0, map[string]any{"https://example.com/owner": "o", "scope": "read operator"}, dependency.Caller{Subject: "someone", Owner: "o", Operator: true}, ""},
		"a user without owner":        {byDefault, map[string]any{"owner": nil}, dependency.Caller{}, "names no owner"},
		"an owner that is no text":    {byDefault, map[string]any{"owner": []string{"acme"}}, dependency.Caller{}, "names no owner"},
		"an owner that is no id":      {byDefault, map[string]any{"owner": "a\x00b", "roles": "operator"}, dependency.Caller{}, "names no owner"},
		"no subject":                  {byDefault, map[string]any{"sub": nil}, dependency.Caller{}, "names no subject"},
		"another audience":            {byDefault, map[string]any{"aud": "other"}, dependency.Caller{}, "not a token of the issuer for this service"},
		"no audience":                 {byDefault, map[string]any{"aud": nil}, dependency.Caller{}, "not a token of the issuer"},
		"another issuer":              {byDefault, map[string]any{"iss": "https://elsewhere"}, dependency.Caller{}, "not a token of the issuer"},
		"expired":                     {byDefault, map[string]any{"exp": time.Now().Add(-time.Second).Unix()}, dependency.Caller{}, "has expired"},
		"for ever":                    {byDefault, map[string]any{"exp": nil}, dependency.Caller{}, "has expired"},
		"not yet":                     {byDefault, map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}, dependency.Caller{}, "not a token of the issuer"},
		"an expiry that is no number": {byDefault, map[string]any{"exp": "never"}, dependency.Caller{}, "not a token of the issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := who(withIssuer(t, i, c.o), i.Token(c.claims))
			if c.fault == "" && (err != nil || got != c.want) {
				t.Errorf("got %+v, %v", got, err)
			}
			if c.fault != "" && (!errors.Is(err, problem.Unauthenticated) || !strings.Contains(err.Error(), c.fault) || got != dependency.Caller{}) {
				t.Errorf("got %+v, %v; want %q", got, err, c.fault)
			}
		})
	}
}

func TestTokensThatTheIssuerHasNotSignedAreRefused(t *testing.T) {
	i := oidctest.New(t)
	a := withIssuer(t, i, OIDC{})
	good, key := i.Token(nil), i.Key()
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public().Key)
	if err != nil {
		t.Fatal(err)
	}
	raw := func(header string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + strings.Split(good, ".")[1] + "."
	}
	for name, token := range map[string]string{
		"alg none":                 raw(`{"alg":"none"}`),
		"alg none with its name":   raw(`{"alg":"None","kid":"key-1"}`) + "e30",
		"HS256 with public key":    oidctest.Sign(t, jose.HS256, jose.JSONWebKey{Key: public, KeyID: key.KeyID}, i.Claims(nil)),
		"unknown kid":              oidctest.Sign(t, jose.ES256, jose.JSONWebKey{Key: other, KeyID: "key-9"}, i.Claims(nil)),
		"known kid of another key": oidctest.Sign(t, jose.ES256, jose.JSONWebKey{Key: other, KeyID: key.KeyID}, i.Claims(nil)),
		"no kid":                   oidctest.Sign(t, jose.ES256, other, i.Claims(nil)),
		"key in the token":         embedded(t, other, i.Claims(nil)),
		"changed claims":           strings.Split(good, ".")[0] + "." + strings.Split(oidctest.Sign(t, jose.ES256, key, i.Claims(map[string]any{"owner": "other"})), ".")[1] + "." + strings.Split(good, ".")[2],
		"cut":                      good[:len(good)-4],
		"no JWT":                   "secret",
		"too many parts":           good + ".x",
		"huge":                     good + strings.Repeat("A", 1<<20),
	} {
		if got, err := who(a, token); !errors.Is(err, problem.Unauthenticated) || got != (dependency.Caller{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := who(a, good); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

// embedded signs with a key that the token itself brings along.
func embedded(t *testing.T, key *ecdsa.PrivateKey, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(fmt.Appendf(nil, `{"iss":%q,"aud":"tombstone","sub":"x","owner":"acme","exp":%d}`, claims["iss"], claims["exp"]))
	if err != nil {
		t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}

func TestKeysOfTheIssuerChange(t *testing.T) {
	i := oidctest.New(t)
	a := withIssuer(t, i, OIDC{})
	old := i.Token(nil)
	if _, err := who(a, old); err != nil {
		t.Fatal(err)
	}
	asked := i.Asked()
	i.Rotate()
	soon(t, "signed with the new key", func() bool { return known(a, i.Token(nil)) })
	for range 20 {
		if _, err := who(a, i.Token(nil)); err != nil {
			t.Errorf("again: %v", err)
		}
	}
	if _, err := who(a, old); err != nil || i.Asked() != asked+1 {
		t.Errorf("signed with the old key, which is still published: %v; asked %d times for the keys", err, i.Asked()-asked)
	}
	i.Rotate()
	i.Forget()
	soon(t, "signed with the only key", func() bool { return known(a, i.Token(nil)) })
	soon(t, "signed with a key that is gone, and refused", func() bool {
		_, err := who(a, old)
		return errors.Is(err, problem.Unauthenticated)
	})
}

func known(a Authenticator, token string) bool {
	_, err := who(a, token)
	return err == nil
}

// soon waits: the library answers whoever waits for the keys a moment before it keeps them, and lets others have them a
// moment after that.
func soon(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestAnIssuerThatIsAwayIsNotTheCallersFault(t *testing.T) {
	i := oidctest.New(t)
	a := withIssuer(t, i, OIDC{})
	i.Stop()
	if _, err := who(a, i.Token(nil)); !errors.Is(err, problem.Unavailable) {
		t.Errorf("away at the start: %v", err)
	}
	i.Start()
	deadline := time.Now().Add(time.Minute)
	for {
		_, err := who(a, i.Token(nil))
		if err == nil {
			break
		}
		if !errors.Is(err, problem.Unavailable) || time.Now().After(deadline) {
			t.Fatalf("it answers now: %v", err)
		}
	}
	i.Stop()
	if _, err := who(a, i.Token(nil)); err != nil {
		t.Errorf("away later, with keys that are known: %v", err)
	}
	i.Rotate()
	soon(t, "away later, with a new key", func() bool {
		_, err := who(a, i.Token(nil))
		return errors.Is(err, problem.Unavailable)
	})
	i.Start()
	soon(t, "it answers again", func() bool { return known(a, i.Token(nil)) })
}

func TestTheIssuerIsNotFloodedWithOurQuestions(t *testing.T) {
	i := oidctest.New(t)
	a := withIssuer(t, i, OIDC{})
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for n := range 200 {
		if _, err := who(a, oidctest.Sign(t, jose.ES256, jose.JSONWebKey{Key: other, KeyID: fmt.Sprint(n)}, i.Claims(nil))); err == nil {
			t.Fatal("a foreign key is believed")
		}
	}
	if most := keyFetches + int(time.Since(begin)/time.Second) + 1; i.Asked() > most {
		t.Errorf("asked %d times, at most %d are due", i.Asked(), most)
	}
	if _, err := newIssuer(i.URL(), OIDC{}, quiet()); err == nil || !strings.Contains(err.Error(), "TOMBSTONE_AUTH_AUDIENCE") {
		t.Errorf("without an audience: %v", err)
	}
}
