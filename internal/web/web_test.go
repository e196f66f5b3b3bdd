package web_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

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
