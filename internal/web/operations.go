package web

import (
	"net/http"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// operationsData is what the page of operations shows.
type operationsData struct {
	forms
	Pause *dependency.Pause // nil: nothing is paused
}

func (s *Site) operations(r *http.Request) (view, error) {
	o, err := s.cfg.Service.Overview(r.Context())
	return view{name: "operations", title: "Operations", data: &operationsData{Pause: o.Pause}}, err
}

// forOperators shows a page to them alone.
func forOperators(show func(*http.Request) (view, error)) func(*http.Request) (view, error) {
	return func(r *http.Request) (view, error) {
		if who, _ := dependency.CallerFrom(r.Context()); !who.Operator {
			return view{}, problem.New(problem.Forbidden, "this page needs the role operator")
		}
		return show(r)
	}
}

func (s *Site) pause(r *http.Request) (string, error) {
	return "./operations", s.cfg.Service.Pause(r.Context(), r.PostFormValue("reason"))
}

// resume goes on with what cannot be taken back, when that was typed.
func (s *Site) resume(r *http.Request) (string, error) {
	if !typed(r.PostFormValue("confirm"), "resume") {
		return "", problem.New(problem.InvalidRequest, `nothing was resumed: to confirm, type "resume"`)
	}
	return "./operations", s.cfg.Service.Resume(r.Context())
}

func (s *Site) hold(r *http.Request) (string, error) {
	id := r.PostFormValue("id")
	return assetPage(id), s.cfg.Service.Hold(r.Context(), id, r.PostFormValue("reason"))
}

// release ends a hold, when the asset's id was typed.
func (s *Site) release(r *http.Request) (string, error) {
	id := r.PostFormValue("id")
	if !typed(r.PostFormValue("confirm"), id) {
		return "", problem.New(problem.InvalidRequest, "nothing was released: to confirm, type the id of the asset, %q", id)
	}
	return assetPage(id), s.cfg.Service.Release(r.Context(), id)
}
