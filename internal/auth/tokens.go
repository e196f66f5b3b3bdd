package auth

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// reloadEvery is the shortest time between two looks at the tokens file.
const reloadEvery = time.Second

// tokens authenticates by the hashes of a tokens file, which it reads again when it changes.
type tokens struct {
	file string
	log  *slog.Logger
	now  func() time.Time

	mu      sync.Mutex
	text    []byte // as last read, good or bad
	looked  time.Time
	callers []tokenCaller
}

// openTokens reads the file, which must be good now.
func openTokens(file string, log *slog.Logger) (*tokens, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the tokens file: %w", err)
	}
	callers, err := parseTokens(file, text)
	if err != nil {
		return nil, err
	}
	return &tokens{file: file, log: log, now: time.Now, text: text, looked: time.Now(), callers: callers}, nil
}

// Authenticate finds the caller of the bearer token.
func (t *tokens) Authenticate(r *http.Request) (dependency.Caller, error) {
	token, ok := bearer(r.Header.Get("Authorization"))
	if !ok {
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "send a token: Authorization: Bearer TOKEN")
	}
	sum := sha256.Sum256([]byte(token))
	found := -1
	callers := t.current()
	// Every hash is compared, each in constant time, so that the time of an answer tells nothing about the file.
	for i := range callers {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], callers[i].sum[:]), i, found)
	}
	if found < 0 {
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "this token is not known")
	}
	return callers[found].caller, nil
}

// current gives the callers of the file as it is now, or as it was when it was last good.
func (t *tokens) current() []tokenCaller {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.now(); now.Sub(t.looked) >= reloadEvery {
		t.looked = now
		t.reload()
	}
	return t.callers
}

// reload takes over a changed file; a fault is told once, and changes nothing.
func (t *tokens) reload() {
	text, err := os.ReadFile(t.file)
	if err == nil && bytes.Equal(text, t.text) {
		return
	}
	if err != nil && t.text == nil {
		return
	}
	t.text = text
	var callers []tokenCaller
	if err == nil {
		callers, err = parseTokens(t.file, text)
	}
	if err != nil {
		t.log.Error("the tokens file cannot be used; the tokens from before stay valid", "file", t.file, "error", err)
		return
	}
	t.log.Info("the tokens file has changed", "file", t.file, "tokens", len(callers))
	t.callers = callers
}

// bearer takes the token out of an Authorization header (RFC 6750).
func bearer(header string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}
