// Package oidctest is a small OpenID Connect issuer for tests: its configuration, its keys, and tokens signed with them.
package oidctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer is a running issuer.
type Issuer struct {
	t testing.TB

	mu     sync.Mutex
	server *httptest.Server
	addr   string
	keys   []jose.JSONWebKey // the last one signs; all are published
	asked  int               // for its keys
}

// New starts an issuer with one key.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t}
	i.Rotate()
	i.Start()
	t.Cleanup(i.Stop)
	return i
}

// URL is the issuer.
func (i *Issuer) URL() string { return "http://" + i.addr }

// Asked is how often its keys were asked for.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// Stop ends the server; Start starts it again on the same address.
func (i *Issuer) Stop() {
	if i.server != nil {
		i.server.CloseClientConnections()
		i.server.Close()
		i.server = nil
	}
}

// Start starts the server.
func (i *Issuer) Start() {
	i.t.Helper()
	address := i.addr
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		i.t.Fatal(err)
	}
	i.addr = l.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.configuration)
	mux.HandleFunc("GET /keys", i.published)
	i.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: mux}}
	i.server.Start()
}

// Rotate makes a new key, which signs from now on. Older ones stay published until Forget.
func (i *Issuer) Rotate() {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, jose.JSONWebKey{Key: key, KeyID: fmt.Sprint("key-", len(i.keys)+1), Algorithm: string(jose.ES256), Use: "sig"})
}

// Forget takes all keys but the last from those that are published.
func (i *Issuer) Forget() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = i.keys[len(i.keys)-1:]
}

// Key is the key that signs.
func (i *Issuer) Key() jose.JSONWebKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[len(i.keys)-1]
}

// Claims are those of a good token for the audience "tombstone", with changes; a nil takes a claim away.
func (i *Issuer) Claims(changes map[string]any) map[string]any {
	claims := map[string]any{"iss": i.URL(), "aud": "tombstone", "sub": "someone", "owner": "acme",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// Token signs such claims.
func (i *Issuer) Token(changes map[string]any) string {
	i.t.Helper()
	return Sign(i.t, jose.ES256, i.Key(), i.Claims(changes))
}

// Sign signs claims with any key.
func Sign(t testing.TB, alg jose.SignatureAlgorithm, key any, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}

func (i *Issuer) configuration(w http.ResponseWriter, _ *http.Request) {
	i.answer(w, map[string]any{"issuer": i.URL(), "jwks_uri": i.URL() + "/keys", "authorization_endpoint": i.URL() + "/auth",
		"token_endpoint": i.URL() + "/token", "id_token_signing_alg_values_supported": []string{"ES256", "HS256", "none"}})
}

func (i *Issuer) published(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked++
	var set jose.JSONWebKeySet
	for _, key := range i.keys {
		set.Keys = append(set.Keys, key.Public())
	}
	i.answer(w, set)
}

func (i *Issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.t.Errorf("answer of the issuer: %v", err)
	}
}
