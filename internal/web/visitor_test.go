package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

var callers = apitest.Callers{
	"alice": {Subject: "alice", Owner: "acme"},
	"bob":   {Subject: "bob", Owner: "globex"},
	"op":    {Subject: "olga", Owner: "ops", Operator: true},
}

// visitor asks for pages as somebody, through the whole HTTP API.
type visitor struct {
	t     *testing.T
	h     http.Handler
	token string
}

// visit makes a service whose callers have tokens, and an operator who looks at it.
func visit(t *testing.T) (visitor, *apitest.Service) {
	s := apitest.New()
	return visitor{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Auth = callers }), "op"}, s
}

func (v visitor) as(token string) visitor { v.token = token; return v }

func (v visitor) send(r *http.Request) *httptest.ResponseRecorder {
	v.t.Helper()
	if v.token != "" {
		r.Header.Set("Authorization", "Bearer "+v.token)
	}
	w := httptest.NewRecorder()
	v.h.ServeHTTP(w, r)
	return w
}

// get gives a page with this status.
func (v visitor) get(status int, path string, query ...string) string {
	v.t.Helper()
	w := v.send(httptest.NewRequest(http.MethodGet, path+"?"+pairs(query).Encode(), nil))
	if w.Code != status {
		v.t.Fatalf("GET %s %q: expected %d, got %d\n%s", path, query, status, w.Code, w.Body)
	}
	return w.Body.String()
}

// post sends a form, and gives where it leads, or the page of its refusal.
func (v visitor) post(status int, path string, form ...string) (answer string) {
	v.t.Helper()
	w := v.send(ownForm(path, pairs(form)))
	if w.Code != status {
		v.t.Fatalf("POST %s %q: expected %d, got %d\n%s", path, form, status, w.Code, w.Body)
	}
	if status == http.StatusSeeOther {
		return w.Header().Get("Location")
	}
	return w.Body.String()
}

// formToken is the secret that a browser has been given.
const formToken = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// ownForm is a form as a page of ours sends it.
func ownForm(path string, values url.Values) *http.Request {
	values.Set("form_token", formToken)
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: "tombstone-form", Value: formToken})
	return r
}

func pairs(list []string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(list); i += 2 {
		values.Add(list[i], list[i+1])
	}
	return values
}

// create makes an asset by the API, with links to others.
func (v visitor) create(id string, needs ...string) {
	v.t.Helper()
	body := `{"kind":"mesh"`
	if len(needs) > 0 { // of which one is enough
		body += `,"links":[{"type":"DEPENDS_ON","to":"` + needs[0] + `"}]`
	}
	r := httptest.NewRequest(http.MethodPut, "/v1/assets/"+url.PathEscape(id), strings.NewReader(body+`}`))
	r.Header.Set("Content-Type", "application/json")
	if w := v.send(r); w.Code != http.StatusCreated {
		v.t.Fatalf("create %q: %d %s", id, w.Code, w.Body)
	}
}

// remove asks for a deletion on the page, and gives its id.
func (v visitor) remove(id, reason string) string {
	v.t.Helper()
	to, err := url.Parse(v.post(http.StatusSeeOther, "/delete", "id", id, "confirm", id, "reason", reason))
	if err != nil || to.Path != "./deletion" {
		v.t.Fatalf("the deletion of %q leads to %v, %v", id, to, err)
	}
	return to.Query().Get("id")
}
