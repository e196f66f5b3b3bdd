package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// contentPolicy allows our own style sheet, script, icon, forms and stream, and nothing else; nothing may become markup or
// script from a string. A form's answer may redirect to our own pages only.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// view is what a handler shows.
type view struct {
	name  string // of the template
	title string
	about string // the deletion that the page is about; empty: any
	data  any    // a pointer where it embeds forms
}

// frame is what the layout needs around it.
type frame struct {
	Title, About, Version string
	Token                 string // of forms
	Data                  any
	Who                   dependency.Caller
	Known                 bool // that somebody has asked
	SignedIn              bool // by the cookie
	Live                  bool
}

// page answers with a view, for a caller.
func (s *Site) page(show func(*http.Request) (view, error)) http.HandlerFunc {
	return s.known(s.shown(show))
}

// shown answers with a view, or its refusal.
func (s *Site) shown(show func(*http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := show(r)
		if err != nil {
			s.refuse(w, r, err, "")
			return
		}
		s.render(w, r, http.StatusOK, v)
	}
}

// action does something for a caller, and sends the browser to a page that shows it.
func (s *Site) action(do func(*http.Request) (next string, err error)) http.HandlerFunc {
	return s.known(s.fromOurForm(func(w http.ResponseWriter, r *http.Request) {
		next, err := do(r)
		if err != nil {
			s.refuse(w, r, err, "")
			return
		}
		goTo(w, next)
	}))
}

// known lets callers in, and bounds their time.
func (s *Site) known(next http.HandlerFunc) http.HandlerFunc {
	return s.within(s.cfg.RequestTimeout, next)
}

// within lets callers in for a time.
func (s *Site) within(patience time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return s.admitted(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		next(w, r.WithContext(ctx))
	})
}

// admitted lets callers in.
func (s *Site) admitted(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := s.caller(r)
		if err != nil {
			s.refuse(w, r, err, "")
			return
		}
		next(w, r.WithContext(dependency.WithCaller(r.Context(), who)))
	}
}

// open answers with a view, for everybody.
func (s *Site) open(show func() view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.render(w, r, http.StatusOK, show()) }
}

// live is the stream of changes.
func (s *Site) live(w http.ResponseWriter, r *http.Request) { s.admitted(s.cfg.Live)(w, r) }

// render writes a page. It is made whole before its first byte leaves, so that a fault is not half a page.
func (s *Site) render(w http.ResponseWriter, r *http.Request, status int, v view) {
	who, known := dependency.CallerFrom(r.Context())
	_, noCookie := r.Cookie(cookieName)
	token := s.formToken(w, r)
	if data, ok := v.data.(interface{ sign(token string) }); ok {
		data.sign(token)
	}
	f := frame{Title: v.title, Token: token, About: v.about, Version: s.cfg.Version, Data: v.data, Who: who, Known: known, SignedIn: known && noCookie == nil,
		Live: known && status == http.StatusOK}
	var text bytes.Buffer
	if err := s.pages[v.name].ExecuteTemplate(&text, "layout", f); err != nil {
		s.cfg.Logger.ErrorContext(r.Context(), "page cannot be shown", "page", v.name, "error", err)
		http.Error(w, "this is a fault of the service; its log tells more", http.StatusInternalServerError)
		return
	}
	s.headers(w, "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

// headers go with all that the page serves. The referrer stays within the site, which browsers need to say where a form
// comes from.
func (s *Site) headers(w http.ResponseWriter, media string) {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// file answers with an embedded file.
func (s *Site) file(name, media string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		text, err := files.ReadFile(name)
		if err != nil {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		s.headers(w, media)
		_, _ = w.Write(text)
	}
}

// refusal is what the page of a refusal shows.
type refusal struct {
	forms
	Status     int
	Name       problem.Name
	Detail     string
	Dependants []string
	Next       string
}

// refuse shows why not; to somebody unknown, the form to sign in, which leads to next or back here.
func (s *Site) refuse(w http.ResponseWriter, r *http.Request, err error, next string) {
	p := s.problemOf(r, err)
	v := view{name: "refusal", title: "Refused", data: &refusal{Status: p.Name.Status(), Name: p.Name, Detail: p.Detail, Dependants: dependantsIn(p)}}
	if p.Name == problem.Unauthenticated {
		if next == "" && r.Method == http.MethodGet {
			next = s.nextOf(r.URL.RequestURI())
		}
		v = view{name: "signin", title: "Sign in", data: &refusal{Detail: p.Detail, Next: next}}
		if r.URL.Path == "/" && !hasCredentials(r) { // the front door is open; what is behind it is not
			s.render(w, r, http.StatusOK, v)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="tombstone"`)
	}
	s.render(w, r, p.Name.Status(), v)
}

func hasCredentials(r *http.Request) bool {
	_, err := r.Cookie(cookieName)
	return err == nil || r.Header.Get("Authorization") != ""
}

// problemOf is the refusal in an error; what is none is told in the log, not to the caller.
func (s *Site) problemOf(r *http.Request, err error) *problem.Problem {
	p := problem.As(err)
	switch {
	case p != nil:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		p = problem.New(problem.Unavailable, "there was no answer in time; whether anything has changed is not known: look again")
	default:
		p = problem.New(problem.Internal, "this is a fault of the service; its log tells more")
	}
	if p.Name == problem.Internal || p.Name == problem.Unavailable {
		s.cfg.Logger.WarnContext(r.Context(), "page could not be served", "path", r.URL.Path, "error", err)
	}
	return p
}

func dependantsIn(p *problem.Problem) []string {
	ids, _ := p.Members["dependants"].([]string)
	return ids
}
