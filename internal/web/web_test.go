package web_test

import (
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/receipt"
	"github.com/tombstone-project/tombstone/services/dependency"
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

const hostile = `<img src=x onerror="alert(1)">'</script><script>alert(2)</script>{{.}}`

// TestNothingFromOutsideBecomesMarkup puts markup, and characters that act, wherever outsiders can.
func TestNothingFromOutsideBecomesMarkup(t *testing.T) {
	v, s := visit(t)
	id := hostile + "\u202e\u2066"
	s.Grace = time.Hour
	v.create("needed")
	v.create(id, "needed")
	scheduled := v.remove(id, hostile+"\x1b[2J")
	s.Grace = 0
	v.create("needs-it", "needed")
	v.create("other")
	running := v.remove("other", hostile)
	s.Stall(running, hostile)
	v.create("stuck")
	blocked := v.remove("stuck", "")
	s.Block(blocked, hostile, time.Now().Add(time.Hour))
	pages := map[string][]string{
		"/": nil, "/deletions": nil, "/assets": {"kind", hostile, "owner", hostile}, "/pending": nil, "/usage": {"owner", hostile}, "/docs": nil,
		"/deletion": {"id", scheduled}, "/asset": {"id", id}, "/audit": {"asset", id},
	}
	hidden := regexp.MustCompile(`<input type="hidden"[^>]*>`) // its value is sent back as it is, and shown to nobody
	check := func(name, page string, shown bool) {
		t.Helper()
		page = hidden.ReplaceAllString(page, "")
		if strings.Contains(page, "<img") || strings.Contains(page, "<script>") || strings.ContainsAny(page, "\u202e\u2066\x1b") {
			t.Errorf("%s has markup from outside:\n%q", name, page)
		}
		if shown && !strings.Contains(html.UnescapeString(page), `<img src=x onerror="alert(1)">'</script>`) {
			t.Errorf("%s does not show the text:\n%s", name, page)
		}
	}
	for path, query := range pages {
		check(path, v.get(http.StatusOK, path, query...), path != "/docs" && path != "/pending" && path != "/assets")
	}
	for _, did := range []string{running, blocked} {
		check("deletion", v.get(http.StatusOK, "/deletion", "id", did), true)
	}
	check("what is needed", v.get(http.StatusOK, "/asset", "id", "needed"), false)
	check("a refusal", v.get(http.StatusNotFound, "/asset", "id", hostile), false)
	check("a refused form", v.post(http.StatusUnprocessableEntity, "/delete", "id", hostile, "confirm", ""), false)
	if page := v.get(http.StatusOK, "/asset", "id", id); !strings.Contains(page, `\u202e\u2066`) {
		t.Error("reordering characters are not written out")
	}
}

func TestEveryAnswerOfThePageHasAStrictPolicy(t *testing.T) {
	v, _ := visit(t)
	for _, path := range []string{"/", "/deletions", "/assets", "/audit", "/usage", "/pending", "/operations", "/retention", "/sweep", "/docs", "/style.css", "/page.js", "/icon.svg", "/deletion", "/asset"} {
		h := v.send(httptest.NewRequest(http.MethodGet, path, nil)).Header()
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'; script-src 'self'; style-src 'self';", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: no %s in %q", path, want, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, h)
		}
	}
	inline := regexp.MustCompile(`(?i)\son\w+=|javascript:|style=|<style|<script[^>]*>[^<]`)
	if found := inline.FindString(v.get(http.StatusOK, "/")); found != "" {
		t.Errorf("inline script or style: %q", found)
	}
}

func TestTheOverviewSaysRequestedAndCompleted(t *testing.T) {
	v, s := visit(t)
	v.create("a")
	did := v.remove("a", "law")
	if page := v.get(http.StatusOK, "/"); !strings.Contains(page, "requested, in progress") || strings.Contains(page, `<span class="badge is-deleted">`) {
		t.Errorf("while it runs:\n%s", page)
	}
	s.Finish(did)
	if page := v.get(http.StatusOK, "/"); strings.Contains(page, "requested, in progress") || !strings.Contains(page, `<span class="badge is-deleted">completed</span>`) {
		t.Errorf("when it is completed:\n%s", page)
	}
}

func TestListsComeInPages(t *testing.T) {
	v, _ := visit(t)
	for i := range 130 {
		id := "asset-" + strings.Repeat("x", i)
		v.create(id)
		v.remove(id, "")
	}
	rows := regexp.MustCompile(`<tr>\n<td>|<tr><td>`)
	seen := 0
	for _, list := range []string{"/deletions", "/assets"} {
		page := v.get(http.StatusOK, list)
		if n := len(rows.FindAllString(page, -1)); n != 100 {
			t.Errorf("%s: %d rows on the first page", list, n)
		}
		next := regexp.MustCompile(`href="\.(/\w+)\?([^"]*)" rel="next"`).FindStringSubmatch(page)
		if next == nil {
			t.Fatalf("%s: no next page", list)
		}
		query, err := url.ParseQuery(html.UnescapeString(next[2]))
		if err != nil {
			t.Fatal(err)
		}
		page = v.get(http.StatusOK, next[1], "cursor", query.Get("cursor"))
		if n := len(rows.FindAllString(page, -1)); n != 30 || strings.Contains(page, `rel="next"`) {
			t.Errorf("%s: %d rows on the last page", list, n)
		}
		seen++
	}
	if seen != 2 {
		t.Errorf("%d lists", seen)
	}
}

// H-75: what belongs to another owner looks like what does not exist.
func TestAnotherOwnersThingsAreNeverShown(t *testing.T) {
	v, _ := visit(t)
	v.as("alice").create("alices")
	did := v.as("alice").remove("alices", "her reason")
	bob := v.as("bob")
	for path, query := range map[string][]string{
		"/asset": {"id", "alices"}, "/deletion": {"id", did}, "/delete": {"id", "alices"}, "/receipt": {"id", did}, "/usage": {"owner", "acme"},
	} {
		bob.get(http.StatusNotFound, path, query...)
	}
	for path, form := range map[string][]string{"/cancel": {"id", did}, "/delete": {"id", "alices", "confirm", "alices"}} {
		bob.post(http.StatusNotFound, path, form...)
	}
	for _, path := range []string{"/pending", "/audit"} {
		page := bob.get(map[string]int{"/pending": http.StatusForbidden, "/audit": http.StatusForbidden}[path], path, "asset", "alices")
		if strings.Contains(page, did) || strings.Contains(page, "her reason") {
			t.Errorf("%s shows:\n%s", path, page)
		}
	}
	for path, form := range map[string][]string{"/retry": {"id", did}, "/replay": {"all", "true"}, "/force": {"id", did, "part", "p", "confirm", "p", "reason", "r"}} {
		bob.post(http.StatusForbidden, path, form...)
	}
	for _, path := range []string{"/", "/deletions", "/assets"} {
		if page := bob.get(http.StatusOK, path, "owner", "acme"); strings.Contains(page, "alices") || strings.Contains(page, did) {
			t.Errorf("%s shows another owner's:\n%s", path, page)
		}
	}
	if page := v.as("alice").get(http.StatusOK, "/"); !strings.Contains(page, did) || strings.Contains(page, "Oldest pending") {
		t.Errorf("the owner sees:\n%s", page)
	}
}

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

func TestADeletionNeedsTheTypedId(t *testing.T) {
	v, s := visit(t)
	id := "mesh/1 \u202e"
	v.create(id)
	page := v.get(http.StatusOK, "/delete", "id", id)
	generation := regexp.MustCompile(`name="generation" value="([^"]+)"`).FindStringSubmatch(page)
	if generation == nil || !strings.Contains(page, "Nothing depends on it") || !strings.Contains(page, `name="plan" value="1"`) {
		t.Fatal(page)
	}
	for _, confirm := range []string{"", "mesh/1", "mesh/1  ", "MESH/1 \u202e"} {
		v.post(http.StatusUnprocessableEntity, "/delete", "id", id, "confirm", confirm)
	}
	v.post(http.StatusPreconditionFailed, "/delete", "id", id, "confirm", id, "generation", "older")
	v.post(http.StatusSeeOther, "/delete", "id", id, "confirm", `mesh/1 \u202e`, "generation", generation[1], "reason", "law", "with_dependants", "true", "plan", "1")
	want := dependency.DeleteRequest{WithDependants: true, Reason: "law", IfMatch: generation[1], IfPlan: "1"}
	if got := s.Requests(); len(got) != 2 || !cmp.Equal(got[1], want) {
		t.Errorf("asked for %+v", got)
	}
	v.get(http.StatusConflict, "/delete", "id", id)
}

func TestWhatDependsOnAnAssetIsShownBeforeAndAfterARefusal(t *testing.T) {
	v, _ := visit(t)
	v.create("texture")
	v.create("scene", "texture")
	for _, path := range []string{"/delete", "/asset"} {
		page := v.get(http.StatusOK, path, "id", "texture")
		if !strings.Contains(page, `href="./asset?id=scene"`) || !strings.Contains(page, "<svg") || !strings.Contains(page, "DEPENDS_ON") {
			t.Errorf("%s:\n%s", path, page)
		}
	}
	if page := v.get(http.StatusOK, "/asset", "id", "scene"); !strings.Contains(page, `href="./asset?id=texture"`) {
		t.Errorf("what it needs is not shown:\n%s", page)
	}
	page := v.post(http.StatusConflict, "/delete", "id", "texture", "confirm", "texture")
	if !strings.Contains(page, `href="./asset?id=scene"`) || !strings.Contains(page, "has-dependants") {
		t.Errorf("the refusal:\n%s", page)
	}
}

func TestAnAssetShowsWhatItsDeletionWouldTake(t *testing.T) {
	v, s := visit(t)
	v.create("texture")
	v.create("scene", "texture")
	s.Before = func(_ context.Context, call string) error {
		if call == "Plan" {
			t.Error("a page that follows live looks into the stores")
		}
		return nil
	}
	page := v.get(http.StatusOK, "/asset", "id", "texture")
	shows(t, page, "It would be refused: 1 asset in the way", "<title>scene, stands in the way</title><rect class=\"blocker\"", "This asset alone.")
	shows(t, v.get(http.StatusOK, "/asset", "id", "scene"), "This asset alone.")
	s.Before = func(_ context.Context, call string) error {
		if call == "PlanOfGraph" {
			return problem.New(problem.TooManyAssets, "12,000 assets would go")
		}
		return nil
	}
	shows(t, v.get(http.StatusOK, "/asset", "id", "scene"), "It would be refused: <bdi>12,000 assets would go")
}

func TestThePlanIsShownBeforeTheDeletion(t *testing.T) {
	v, s := visit(t)
	v.create("texture")
	v.create("scene", "texture")
	page := v.get(http.StatusOK, "/delete", "id", "texture")
	if !strings.Contains(page, "1 asset in the way") || strings.Contains(page, `name="confirm"`) || !strings.Contains(page, "payload/texture") {
		t.Errorf("alone:\n%s", page)
	}
	page = v.get(http.StatusOK, "/delete", "id", "texture", "with_dependants", "true")
	if !strings.Contains(page, "Delete 2 assets") || !strings.Contains(page, `name="with_dependants" value="true"`) || !strings.Contains(page, `name="plan" value="2"`) ||
		!strings.Contains(page, `class="going"`) {
		t.Errorf("with what depends on it:\n%s", page)
	}
	s.Before = func(_ context.Context, call string) error {
		if call == "Plan" {
			return problem.New(problem.Unavailable, "the stores are away")
		}
		return nil
	}
	page = v.get(http.StatusOK, "/delete", "id", "scene")
	if !strings.Contains(page, "the stores are away") || !strings.Contains(page, "1 asset, of which") || !strings.Contains(page, `name="confirm"`) || !strings.Contains(page, `name="plan" value=""`) {
		t.Errorf("while the stores are away:\n%s", page)
	}
}

func TestADeletionCanBeCancelledDrivenAndGivenUp(t *testing.T) {
	v, s := visit(t)
	s.Grace = time.Hour
	v.create("a")
	did := v.remove("a", "law")
	page := v.get(http.StatusOK, "/deletion", "id", did)
	if !strings.Contains(page, `action="./cancel"`) || strings.Contains(page, `action="./retry"`) || !strings.Contains(page, "begins in ") || !strings.Contains(page, "its end") {
		t.Errorf("scheduled:\n%s", page)
	}
	if to := v.post(http.StatusSeeOther, "/cancel", "id", did); to != "./deletion?id="+did {
		t.Errorf("cancelling leads to %s", to)
	}
	if page = v.get(http.StatusOK, "/deletion", "id", did); !strings.Contains(page, ">cancelled<") || strings.Contains(page, `action="./cancel"`) {
		t.Errorf("cancelled:\n%s", page)
	}
	s.Grace = 0
	did = v.remove("a", "law")
	v.post(http.StatusConflict, "/cancel", "id", did)
	s.Stall(did, "no such bucket")
	page = v.get(http.StatusOK, "/deletion", "id", did)
	if !strings.Contains(page, `action="./retry"`) || !strings.Contains(page, "no such bucket") || !strings.Contains(page, "<option>description</option>") {
		t.Errorf("stalled:\n%s", page)
	}
	v.post(http.StatusSeeOther, "/retry", "id", did)
	if diff := cmp.Diff([]dependency.Drive{{Deletions: []string{did}}}, s.Drives()); diff != "" {
		t.Error(diff)
	}
	v.post(http.StatusUnprocessableEntity, "/force", "id", did, "part", "description", "reason", "the store is gone", "confirm", "yes")
	v.get(http.StatusConflict, "/receipt", "id", did)
	v.post(http.StatusSeeOther, "/force", "id", did, "part", "description", "reason", "the store is gone", "confirm", "description")
	page = v.get(http.StatusOK, "/deletion", "id", did)
	if !strings.Contains(page, "given up: <bdi>the store is gone") || !strings.Contains(page, ">completed<") || !strings.Contains(page, "deletion completed") {
		t.Errorf("given up:\n%s", page)
	}
	keys, err := receipt.ParseKeys([]byte(v.get(http.StatusOK, "/.well-known/jwks.json")))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := receipt.Verify(v.get(http.StatusOK, "/receipt", "id", did), keys); err != nil || r.Deletion != did {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAnOwnerSeesTheTimeLineWithoutTheTrail(t *testing.T) {
	v, s := visit(t)
	alice := v.as("alice")
	alice.create("a")
	did := alice.remove("a", "")
	s.Finish(did)
	page := alice.get(http.StatusOK, "/deletion", "id", did)
	if !strings.Contains(page, "deletion requested</strong> by <bdi>alice") || !strings.Contains(page, "deletion completed</strong>") || strings.Contains(page, "audit") {
		t.Error(page)
	}
}

func TestPendingFlagsAreReplayed(t *testing.T) {
	v, s := visit(t)
	v.create("a")
	did := v.remove("a", "")
	if page := v.get(http.StatusOK, "/pending"); !strings.Contains(page, `value="`+did+`"`) {
		t.Error(page)
	}
	if to := v.post(http.StatusSeeOther, "/replay", "id", did); to != "./pending?driven=1" {
		t.Errorf("it leads to %s", to)
	}
	v.post(http.StatusSeeOther, "/replay", "all", "true")
	if diff := cmp.Diff([]dependency.Drive{{Deletions: []string{did}}, {All: true}}, s.Drives()); diff != "" {
		t.Error(diff)
	}
	if page := v.get(http.StatusOK, "/pending", "driven", "1"); !strings.Contains(page, "Replayed: 1 deletion.") {
		t.Error(page)
	}
}

func TestUsageAndAudit(t *testing.T) {
	v, _ := visit(t)
	v.as("alice").create("a")
	v.remove("a", "law")
	if page := v.as("alice").get(http.StatusOK, "/usage"); !strings.Contains(page, "acme") || !strings.Contains(page, `<td class="figure">1</td>`) {
		t.Error(page)
	}
	if page := v.get(http.StatusOK, "/audit", "asset", "a"); !strings.Contains(page, "deletion requested") || !strings.Contains(page, "law") || !strings.Contains(page, "olga") {
		t.Error(page)
	}
}

func TestWithoutTheDependencyServiceThePageSaysSo(t *testing.T) {
	s := apitest.New()
	v := visitor{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Dependency = nil }), ""}
	if page := v.get(http.StatusOK, "/"); !strings.Contains(page, "asset service") {
		t.Error(page)
	}
	v.get(http.StatusNotFound, "/deletions")
}
