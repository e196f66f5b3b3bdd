package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/auth/oidctest"
	"github.com/tombstone-project/tombstone/test/system"
)

// Tokens of an issuer open the whole installation: for commands, from a file that is read anew each time and from the
// environment, and for a browser that signs in on the page. Who has none, or one that has ended, is told so.
func TestTokensOfAnIssuerOpenCommandsAndPages(t *testing.T) {
	issuer, s := oidctest.New(t), system.Embedded(t)
	s.Settings = map[string]string{"TOMBSTONE_AUTH": "oidc:" + issuer.URL(), "TOMBSTONE_AUTH_AUDIENCE": "tombstone"}
	sys := system.Start(t, s, app.All)
	t.Setenv("TOMBSTONE_URL", sys.URL)
	file := filepath.Join(t.TempDir(), "token")
	keep := func(token string) {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tombstone(t, "status", "a").fails(exitFailed, "token")

	keep(issuer.Token(map[string]any{"exp": 1}))
	t.Setenv("TOMBSTONE_TOKEN_FILE", file)
	tombstone(t, "status", "a").fails(exitFailed, "expired")
	keep(issuer.Token(nil))
	tombstoneWith(t, `{"id":"a","kind":"item"}`, "import", "-").done()
	if got := tombstone(t, "status", "a", "--json").done().values()[0]["owner"]; got != "acme" {
		t.Errorf("the asset's owner is %v, and the token's is acme", got)
	}
	tombstone(t, "delete", "a", "--wait", "1m").done()
	tombstone(t, "pause", "--reason", "x").fails(exitFailed)
	issuer.Rotate()
	operator := issuer.Token(map[string]any{"owner": nil, "roles": []string{"operator"}})
	t.Setenv("TOMBSTONE_TOKEN_FILE", "")
	t.Setenv("TOMBSTONE_TOKEN", operator)
	tombstone(t, "pause", "--reason", "x").done()
	tombstone(t, "resume").done()

	page := newBrowser(t, sys.URL)
	if got := page.get("/operations"); got != http.StatusUnauthorized {
		t.Errorf("a page before signing in: %d", got)
	}
	if got := page.signIn(issuer.Token(map[string]any{"aud": "another"})); got != http.StatusUnauthorized {
		t.Errorf("signing in with a token for another audience: %d", got)
	}
	if got := page.signIn(issuer.Token(nil)); got != http.StatusOK {
		t.Errorf("signing in: %d", got)
	}
	if got := page.get("/operations"); got != http.StatusForbidden {
		t.Errorf("the page of operators, for a user: %d", got)
	}
	page.signIn(operator)
	if got := page.get("/operations"); got != http.StatusOK {
		t.Errorf("the page of operators, for one: %d", got)
	}
}

// browser keeps cookies, and follows where it is sent.
type browser struct {
	http.Client
	t    *testing.T
	base *url.URL
}

func newBrowser(t *testing.T, base string) *browser {
	t.Helper()
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{Client: http.Client{Jar: jar}, t: t, base: at}
}

// get gives the status of a page.
func (b *browser) get(path string) int {
	b.t.Helper()
	resp, err := b.Get(b.base.JoinPath(path).String())
	if err != nil {
		b.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// signIn sends the form of the page with a token, and gives the status of the page where it leads.
func (b *browser) signIn(token string) int {
	b.t.Helper()
	b.get("/") // gives the browser the secret that each form repeats
	form := url.Values{"token": {token}}
	for _, c := range b.Jar.Cookies(b.base) {
		if c.Name == "tombstone-form" {
			form.Set("form_token", c.Value)
		}
	}
	resp, err := b.PostForm(b.base.JoinPath("signin").String(), form)
	if err != nil {
		b.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
