package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestNobodyGetsTheFormToSignIn(t *testing.T) {
	v, _ := visit(t)
	nobody := v.as("")
	for path, status := range map[string]int{"/": 200, "/deletion": 401, "/live": 401, "/receipt": 401} {
		if page := nobody.get(status, path, "id", "x"); !strings.Contains(page, `name="token"`) || strings.Contains(page, "<table") {
			t.Errorf("%s:\n%s", path, page)
		}
	}
	if page := nobody.get(http.StatusUnauthorized, "/asset", "id", "a&b"); !strings.Contains(page, `name="next" value="./asset?id=a%26b"`) {
		t.Errorf("it does not lead back:\n%s", page)
	}
	nobody.post(http.StatusUnauthorized, "/cancel", "id", "x")
	nobody.get(http.StatusOK, "/docs")
}

func TestSigningInKeepsTheTokenInACookieForPagesAlone(t *testing.T) {
	v, _ := visit(t)
	nobody := v.as("")
	nobody.post(http.StatusUnauthorized, "/signin", "token", "wrong")
	w := nobody.send(ownForm("/signin", url.Values{"token": {"op"}, "next": {"./asset?id=a"}}))
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "./asset?id=a" || len(cookies) != 1 {
		t.Fatalf("%d, %v", w.Code, w.Header())
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 0 || !c.Expires.IsZero() || c.Domain != "" || c.Secure {
		t.Errorf("cookie: %+v", c)
	}
	with := func(method, path string) int {
		r := httptest.NewRequest(method, path, nil)
		r.AddCookie(c)
		return nobody.send(r).Code
	}
	if got := with(http.MethodGet, "/pending"); got != http.StatusOK {
		t.Errorf("with the cookie: %d", got)
	}
	for _, path := range []string{"/v1/overview", "/v1/assets", "/v1/admin/pending"} {
		if got := with(http.MethodGet, path); got != http.StatusUnauthorized {
			t.Errorf("the API takes the cookie at %s: %d", path, got)
		}
	}
	if w := nobody.send(ownForm("/signout", url.Values{})); w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("signing out leaves %v", w.Header())
	}
	if w := nobody.send(ownForm("https://host/signin", url.Values{"token": {"op"}})); !w.Result().Cookies()[0].Secure {
		t.Error("over TLS the cookie may leave without it")
	}
}

func TestSigningInLeadsToOurPagesOnly(t *testing.T) {
	v, _ := visit(t)
	for next, want := range map[string]string{
		"": "./", "./": "./", "./pending": "./pending", "/deletion?id=x": "./deletion?id=x", "https://evil.example/": "./", "//evil.example/asset": "./",
		`/\evil.example`: "./", "./live": "./live", "./signout": "./", "../asset": "./", "/v1/assets": "./", "javascript:alert(1)": "./", "%zz": "./",
	} {
		if got := v.post(http.StatusSeeOther, "/signin", "token", "op", "next", next); got != want {
			t.Errorf("%q leads to %q", next, got)
		}
	}
}
