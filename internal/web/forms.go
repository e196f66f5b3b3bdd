package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"

	"github.com/tombstone-project/tombstone/problem"
)

const (
	// formCookie holds a secret of the browser, which each form repeats in formField. A page from elsewhere can make a
	// browser send the cookie at most, and cannot read it.
	formCookie = "tombstone-form"
	formField  = "form_token"
	// formTokenMin is the length below which a cookie is not one that we made.
	formTokenMin = 26
)

// forms is embedded in what a page with forms shows.
type forms struct{ Token string }

// sign puts the token into them.
func (f *forms) sign(token string) { f.Token = token }

// formToken is the secret of the browser that asks; its first page makes it.
func (s *Site) formToken(w http.ResponseWriter, r *http.Request) string {
	if c, err := r.Cookie(formCookie); err == nil && len(c.Value) >= formTokenMin {
		return c.Value
	}
	token := rand.Text()
	http.SetCookie(w, s.cookie(r, formCookie, token, 0))
	return token
}

// fromOurForm lets only forms through that have the browser's secret.
func (s *Site) fromOurForm(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			s.refuse(w, r, problem.New(problem.InvalidRequest, "the form cannot be read: %s", err), "")
			return
		}
		c, err := r.Cookie(formCookie)
		if err != nil || len(c.Value) < formTokenMin || subtle.ConstantTimeCompare([]byte(c.Value), []byte(r.PostForm.Get(formField))) != 1 {
			s.refuse(w, r, problem.New(problem.Forbidden, "nothing was changed: this form is not of a page that this browser was given, or the"+
				" browser keeps no cookies. Load the page again, and send it from there"), "")
			return
		}
		next(w, r)
	}
}
