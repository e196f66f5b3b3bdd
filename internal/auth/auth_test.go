package auth

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestParseSetting(t *testing.T) {
	for _, c := range []struct {
		value string
		want  Setting
		fault string
	}{
		{"none", Setting{Method: MethodNone}, ""},
		{"tokens:/etc/tokens.yaml", Setting{Method: MethodTokens, File: "/etc/tokens.yaml"}, ""},
		{"tokens:C:/tokens.yaml", Setting{Method: MethodTokens, File: "C:/tokens.yaml"}, ""},
		{"oidc:https://issuer/realm", Setting{Method: MethodOIDC, Issuer: "https://issuer/realm"}, ""},
		{"oidc:http://127.0.0.1:99", Setting{Method: MethodOIDC, Issuer: "http://127.0.0.1:99"}, ""},
		{"oidc:http://issuer", Setting{}, "begins with https://"},
		{"oidc:issuer", Setting{}, "the address of the issuer"},
		{"oidc:https://u:p@issuer", Setting{}, "the address of the issuer"},
		{"oidc:", Setting{}, "write none, tokens:FILE or oidc:ISSUER"},
		{"tokens:", Setting{}, "write none, tokens:FILE or oidc:ISSUER"},
		{"tokens", Setting{}, "write none, tokens:FILE or oidc:ISSUER"},
		{"none:", Setting{}, "write none, tokens:FILE or oidc:ISSUER"},
		{"maybe", Setting{}, `"maybe" is not a way to authenticate`},
		{"", Setting{}, "write none, tokens:FILE or oidc:ISSUER"},
	} {
		t.Run(c.value, func(t *testing.T) {
			got, err := ParseSetting(c.value)
			if c.fault == "" && (err != nil || got != c.want || got.String() != c.value) {
				t.Fatalf("got %v, %v", got, err)
			}
			if c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
				t.Fatalf("expected %q, got %v", c.fault, err)
			}
		})
	}
}

func TestNoneIsForLoopbackListenersOnly(t *testing.T) {
	for listen, ok := range map[string]bool{
		"127.0.0.1:8080": true, "127.9.9.9:1": true, "[::1]:8080": true, "localhost:8080": true,
		"0.0.0.0:8080": false, ":8080": false, "[::]:8080": false, "10.0.0.1:80": false, "example.com:80": false, "127.0.0.1": false,
	} {
		if err := (Setting{Method: MethodNone}).CheckListener(listen); (err == nil) != ok {
			t.Errorf("none on %s: %v", listen, err)
		}
		if err := (Setting{Method: MethodTokens, File: "x"}).CheckListener(listen); err != nil {
			t.Errorf("tokens on %s: %v", listen, err)
		}
	}
}

func TestNone(t *testing.T) {
	a, err := New(Setting{Method: MethodNone}, OIDC{}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("every caller on this machine is an operator", func(t *testing.T) {
		for _, host := range []string{"127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:80", "[::1]"} {
			c, err := a.Authenticate(requestTo(host, ""))
			if want := (dependency.Caller{Subject: "anonymous", Owner: "default", Operator: true}); err != nil || c != want {
				t.Errorf("%s: got %+v, %v", host, c, err)
			}
		}
	})
	t.Run("a request that names another host is refused", func(t *testing.T) {
		for _, host := range []string{"evil.example:8080", "evil.example", "127.0.0.1.evil.example", "0.0.0.0:80", ""} {
			if _, err := a.Authenticate(requestTo(host, "")); problem.As(err) == nil || problem.As(err).Name != problem.Forbidden {
				t.Errorf("%s: expected forbidden, got %v", host, err)
			}
		}
	})
}

func requestTo(host, authorization string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/v1/assets", nil)
	r.Host = host
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}
