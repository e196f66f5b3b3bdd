package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// shows fails the test unless a page has all the texts.
func shows(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in\n%s", text, page)
		}
	}
}

// hides fails the test when a page has one of the texts.
func hides(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("there is %q in\n%s", text, page)
		}
	}
}

func TestPhysicalDeletionIsPausedAndResumed(t *testing.T) {
	v, _ := visit(t)
	hides(t, v.get(http.StatusOK, "/"), "paused by")
	if to := v.post(http.StatusSeeOther, "/pause", "reason", "a <b>backup</b> is restored"); to != "./operations" {
		t.Errorf("pausing leads to %s", to)
	}
	const said = "Physical deletion is paused by <bdi>olga</bdi> since "
	shows(t, v.get(http.StatusOK, "/"), said, "a &lt;b&gt;backup&lt;/b&gt; is restored", `href="./operations">Resume it`)
	shows(t, v.as("alice").get(http.StatusOK, "/"), said)
	hides(t, v.as("alice").get(http.StatusOK, "/"), "./operations")
	shows(t, v.get(http.StatusOK, "/operations"), said, `action="./resume"`)
	for _, confirm := range []string{"", "yes", "Resume"} {
		v.post(http.StatusUnprocessableEntity, "/resume", "confirm", confirm)
	}
	shows(t, v.get(http.StatusOK, "/"), said)
	v.post(http.StatusSeeOther, "/resume", "confirm", "resume")
	hides(t, v.get(http.StatusOK, "/"), "paused by")
	shows(t, v.get(http.StatusOK, "/operations"), `action="./pause"`)
}

func TestAnAssetIsHeldAndReleased(t *testing.T) {
	v, s := visit(t)
	v.create("a")
	if to := v.post(http.StatusSeeOther, "/hold", "id", "a", "reason", "case 4711"); to != "./asset?id=a" {
		t.Errorf("holding leads to %s", to)
	}
	page := v.get(http.StatusOK, "/asset", "id", "a")
	shows(t, page, "Legal hold", "case 4711", `action="./release"`)
	hides(t, page, `action="./hold"`)
	v.post(http.StatusLocked, "/delete", "id", "a", "confirm", "a")
	v.post(http.StatusUnprocessableEntity, "/release", "id", "a", "confirm", "b")
	shows(t, v.get(http.StatusOK, "/asset", "id", "a"), "case 4711")
	v.post(http.StatusSeeOther, "/release", "id", "a", "confirm", "a")
	page = v.get(http.StatusOK, "/asset", "id", "a")
	hides(t, page, "case 4711")
	shows(t, page, `action="./hold"`)
	s.Grace = time.Hour
	v.remove("a", "")
	shows(t, v.get(http.StatusOK, "/asset", "id", "a"), `action="./hold"`) // it may come back
	s.Grace = 0
	v.create("b")
	v.remove("b", "")
	hides(t, v.get(http.StatusOK, "/asset", "id", "b"), `action="./hold"`) // it cannot
	v.post(http.StatusNotFound, "/hold", "id", "nobody", "reason", "x")
}

func TestADryRunOfRetentionShowsWhatHasExpired(t *testing.T) {
	v, s := visit(t)
	page := v.get(http.StatusOK, "/retention")
	shows(t, page, "dry run", `action="./retention"`)
	hides(t, page, "Nothing was changed")
	shows(t, v.post(http.StatusOK, "/retention"), "Nothing has expired. Nothing was changed.")
	oldest := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	found := dependency.Expired{
		Findings: dependency.Findings{Total: 1200, Bytes: 70_000, ExceedsShare: []dependency.OwnerShare{{Owner: "acme", Candidates: 2, Live: 3}}},
		Groups:   []dependency.ExpiredGroup{{Kind: "check", Part: "raw", Owner: "a<b>", Total: 1199}, {Kind: "mesh", Owner: "acme", Total: 1, Bytes: 70_000}},
		Left:     dependency.Left{Held: 1, Dependants: 2}, Oldest: &oldest,
	}
	for range 150 {
		found.Candidates = append(found.Candidates, dependency.Candidate{Asset: "scan <i>", Part: "raw", Reason: "expired at noon"})
	}
	s.Expire(found)
	page = v.post(http.StatusOK, "/retention")
	shows(t, page, "1,200 candidates, 70,000 bytes of whole assets; the oldest expired <time", "Nothing was changed.", "1 on hold, 2 that others need",
		"<td>check</td><td>raw</td>", "a&lt;b&gt;", `<td class="figure">1,199</td><td class="figure">not declared</td>`, `<td class="figure">1</td><td class="figure">70,000</td>`,
		"max_share_per_owner", "2 of 3 live assets", "scan &lt;i&gt;", "And 1,100 more", "<code>tombstone retention --apply</code>")
	if n := strings.Count(page, "expired at noon"); n != 100 {
		t.Errorf("%d candidates are shown", n)
	}
}

func TestADryRunOfTheSweepShowsOrphans(t *testing.T) {
	v, s := visit(t)
	shows(t, v.post(http.StatusConflict, "/sweep"), "empty-graph")
	v.create("a")
	shows(t, v.get(http.StatusOK, "/sweep"), `action="./sweep"`)
	shows(t, v.post(http.StatusOK, "/sweep"), "There is no orphan. Nothing was changed.")
	s.Orphan(dependency.Findings{Candidates: []dependency.Candidate{{Asset: "b", Part: "raw", Place: "assets/raw/<b>/", Reason: "belongs to nobody", Bytes: 7}},
		Total: 1, Bytes: 7, ExceedsShare: []dependency.OwnerShare{{Candidates: 1, Live: 1}}})
	shows(t, v.post(http.StatusOK, "/sweep"), "1 candidate, 7 bytes.", "assets/raw/&lt;b&gt;/", "belongs to nobody", "owner not known", "<code>tombstone sweep --apply</code>")
}

func TestOperationsAreForOperators(t *testing.T) {
	v, _ := visit(t)
	alice := v.as("alice")
	alice.create("a")
	for _, path := range []string{"/operations", "/retention", "/sweep"} {
		alice.get(http.StatusForbidden, path)
	}
	for _, path := range []string{"/pause", "/hold", "/release", "/retention", "/sweep"} {
		alice.post(http.StatusForbidden, path, "id", "a", "confirm", "a", "reason", "x")
	}
	alice.post(http.StatusForbidden, "/resume", "confirm", "resume")
	hides(t, alice.get(http.StatusOK, "/asset", "id", "a"), `action="./hold"`, "Operations")
}
