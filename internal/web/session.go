package web

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// cookieName is the cookie that holds the token of a browser that has signed in: until the browser is closed, unreadable
// for scripts, and sent only when a page of this site asks (SameSite=Strict).
const cookieName = "tombstone"

// caller tells who asks for a page: by the header like callers of the API, else by the cookie.
func (s *Site) caller(r *http.Request) (dependency.Caller, error) {
	if cookie, err := r.Cookie(cookieName); err == nil && r.Header.Get("Authorization") == "" {
		token, err := base64.RawURLEncoding.DecodeString(cookie.Value)
		if err != nil {
			return dependency.Caller{}, problem.New(problem.Unauthenticated, "sign in again")
		}
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(token))
	}
	return s.cfg.Auth.Authenticate(r)
}

// signIn takes a token into the cookie, when it is a good one.
func (s *Site) signIn(w http.ResponseWriter, r *http.Request) {
	token, next := strings.TrimSpace(r.PostFormValue("token")), s.nextOf(r.PostFormValue("next"))
	try := r.Clone(r.Context())
	try.Header.Set("Authorization", "Bearer "+token)
	if _, err := s.cfg.Auth.Authenticate(try); err != nil {
		s.refuse(w, r, err, next)
		return
	}
	http.SetCookie(w, s.cookie(r, cookieName, base64.RawURLEncoding.EncodeToString([]byte(token)), 0))
	goTo(w, next)
}

// signOut takes the cookie away.
func (s *Site) signOut(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, s.cookie(r, cookieName, "", -1))
	goTo(w, "./")
}

// cookie has no path: the browser takes the folder of the page, below whatever prefix that lies.
func (s *Site) cookie(r *http.Request, name, value string, maxAge int) *http.Cookie {
	overTLS := r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
	return &http.Cookie{Name: name, Value: value, MaxAge: maxAge, HttpOnly: true, Secure: overTLS, SameSite: http.SameSiteStrictMode}
}

// nextOf is where to go after signing in: one of our pages, whatever was asked for.
func (s *Site) nextOf(asked string) string {
	u, err := url.Parse(asked)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return "./"
	}
	path := "/" + strings.TrimPrefix(strings.TrimPrefix(u.Path, "."), "/")
	if path == "/" || !slices.ContainsFunc(s.Routes(), func(r Route) bool { return r.Path == path && r.Method == http.MethodGet }) {
		return "./"
	}
	return relative(path, u.Query())
}

// relative is the address of one of our pages as seen from another.
func relative(path string, query url.Values) string {
	to := "." + path
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	return to
}

// goTo sends the browser on. The address stays relative, which http.Redirect would not leave it.
func goTo(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}
