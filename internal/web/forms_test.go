package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// formPaths take forms that change something.
var formPaths = []string{"/delete", "/cancel", "/retry", "/force", "/replay", "/hold", "/release", "/pause", "/resume", "/retention", "/sweep", "/signin", "/signout"}

func TestPagesFromElsewhereChangeNothing(t *testing.T) {
	v, s := visit(t)
	v.create("a")
	for name, header := range map[string][2]string{
		"another site": {"Sec-Fetch-Site", "cross-site"}, "another port": {"Sec-Fetch-Site", "same-site"}, "another origin": {"Origin", "https://evil.example"}, "no origin": {"Origin", "null"},
	} {
		for _, path := range formPaths {
			r := ownForm(path, url.Values{"id": {"a"}, "confirm": {"a"}, "all": {"true"}, "token": {"op"}})
			r.Header.Set(header[0], header[1])
			if w := v.send(r); w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 {
				t.Errorf("%s from %s: %d", path, name, w.Code)
			}
		}
	}
	if len(s.Requests()) > 0 || len(s.Drives()) > 0 {
		t.Error("something was done")
	}
}

func TestFormsNeedTheSecretOfTheBrowser(t *testing.T) {
	v, s := visit(t)
	v.create("a")
	for _, path := range formPaths {
		for name, spoil := range map[string]func(r *http.Request, form url.Values) *http.Request{
			"no cookie": func(r *http.Request, _ url.Values) *http.Request { r.Header.Del("Cookie"); return r },
			"another cookie": func(r *http.Request, _ url.Values) *http.Request {
				r.Header.Set("Cookie", "tombstone-form="+strings.ToLower(formToken))
				return r
			},
			"an empty cookie": func(r *http.Request, form url.Values) *http.Request { return bare(r, form, "tombstone-form=") },
			"it is in the path": func(r *http.Request, form url.Values) *http.Request {
				r.URL.RawQuery = "form_token=" + formToken
				return bare(r, form, "tombstone-form="+formToken)
			},
		} {
			form := url.Values{"id": {"a"}, "confirm": {"a"}, "all": {"true"}, "token": {"op"}}
			if w := v.send(spoil(ownForm(path, form), form)); w.Code != http.StatusForbidden || hasCookie(w, "tombstone") {
				t.Errorf("%s, %s: %d\n%s", path, name, w.Code, w.Body)
			}
		}
	}
	if len(s.Requests()) > 0 || len(s.Drives()) > 0 {
		t.Error("something was done")
	}
}

// bare is a form without the secret, with a cookie.
func bare(r *http.Request, form url.Values, cookie string) *http.Request {
	form.Del("form_token")
	to := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(form.Encode()))
	to.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	to.Header.Set("Cookie", cookie)
	return to
}

func hasCookie(w *httptest.ResponseRecorder, name string) bool {
	for _, c := range w.Result().Cookies() {
		if c.Name == name {
			return true
		}
	}
	return false
}

func TestAPageGivesItsFormsTheSecret(t *testing.T) {
	v, _ := visit(t)
	w := v.send(httptest.NewRequest(http.MethodGet, "/pending", nil))
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || cookies[0].Name != "tombstone-form" || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || len(cookies[0].Value) < 26 {
		t.Fatalf("cookies: %+v", cookies)
	}
	if !strings.Contains(w.Body.String(), `name="form_token" value="`+cookies[0].Value+`"`) {
		t.Errorf("the form does not have it:\n%s", w.Body)
	}
	r := httptest.NewRequest(http.MethodGet, "/pending", nil)
	r.AddCookie(cookies[0])
	if w := v.send(r); len(w.Result().Cookies()) != 0 || !strings.Contains(w.Body.String(), cookies[0].Value) {
		t.Errorf("a second page makes another: %v", w.Header())
	}
}

// TestEveryFormHasTheSecret reads the templates, and holds formPaths to the forms in them.
func TestEveryFormHasTheSecret(t *testing.T) {
	form := regexp.MustCompile(`<form method="post" action="\.(/\w+)"[^>]*>(.{0,20})`)
	seen := map[string]bool{}
	files, err := filepath.Glob("templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := form.FindAllStringSubmatch(string(text), -1)
		if n := strings.Count(string(text), `method="post"`); n != len(found) {
			t.Errorf("%s: %d of %d forms are as expected", file, len(found), n)
		}
		for _, f := range found {
			seen[f[1]] = true
			if !strings.HasPrefix(f[2], `{{template "token" `) {
				t.Errorf("%s: the form for %s does not begin with the token", file, f[1])
			}
		}
	}
	for _, path := range formPaths {
		if !seen[path] {
			t.Errorf("there is no form for %s", path)
		}
	}
	if len(seen) != len(formPaths) {
		t.Errorf("forms for %v, tested are %v", seen, formPaths)
	}
}
