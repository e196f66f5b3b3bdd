// Package auth tells who sends a request: everybody is an operator (none), or a bearer token says so (a tokens file, or an OpenID
// Connect issuer).
package auth

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Authenticator tells who sends a request. Refusals are problem.Unauthenticated and problem.Forbidden. It is safe for
// concurrent use.
type Authenticator interface {
	Authenticate(r *http.Request) (dependency.Caller, error)
}

// Method is how callers are told apart.
type Method string

// The methods.
const (
	MethodNone   Method = "none"
	MethodTokens Method = "tokens"
	MethodOIDC   Method = "oidc"
)

// Setting is the parsed value of TOMBSTONE_AUTH. The zero value is not usable; ParseSetting makes one.
type Setting struct {
	Method Method
	// File is the tokens file; set for MethodTokens only.
	File string
	// Issuer is the address of the issuer; set for MethodOIDC only.
	Issuer string
}

// ParseSetting reads `none`, `tokens:FILE` or `oidc:ISSUER`. Errors say what to write instead, and leave the name of the setting to the
// caller.
func ParseSetting(value string) (Setting, error) {
	method, rest, _ := strings.Cut(value, ":")
	switch {
	case value == string(MethodNone):
		return Setting{Method: MethodNone}, nil
	case method == string(MethodTokens) && rest != "":
		return Setting{Method: MethodTokens, File: rest}, nil
	case method == string(MethodOIDC) && rest != "":
		return Setting{Method: MethodOIDC, Issuer: rest}, checkIssuer(rest)
	}
	return Setting{}, fmt.Errorf("%q is not a way to authenticate: write none, tokens:FILE or oidc:ISSUER", value)
}

// String is the setting as ParseSetting reads it.
func (s Setting) String() string {
	switch s.Method {
	case MethodTokens:
		return string(s.Method) + ":" + s.File
	case MethodOIDC:
		return string(s.Method) + ":" + s.Issuer
	}
	return string(s.Method)
}

// CheckListener refuses `none` on a listener (host:port) that other machines can reach.
func (s Setting) CheckListener(listen string) error {
	if s.Method != MethodNone {
		return nil
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%q is not host:port: %w", listen, err)
	}
	if !isLoopback(host) {
		return fmt.Errorf("none is for listeners on loopback only, and %s is not one: write tokens:FILE or oidc:ISSUER, or listen on 127.0.0.1", listen)
	}
	return nil
}

// New makes the authenticator of a setting. It fails when the tokens file cannot be read or holds a fault. Faults found
// later, when the file changes, go to the log, and the tokens from before stay valid. An issuer is asked at the first token.
func New(s Setting, o OIDC, log *slog.Logger) (Authenticator, error) {
	switch s.Method {
	case MethodNone:
		return none{}, nil
	case MethodTokens:
		return openTokens(s.File, log)
	case MethodOIDC:
		return newIssuer(s.Issuer, o, log)
	}
	return nil, fmt.Errorf("authentication method %q is unknown", s.Method)
}

// isLoopback tells whether a host name or address can only mean this machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}
