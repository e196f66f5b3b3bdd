package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// TestAHundredThousandDeletions looks at a graph with so many, of which 40 are blocked.
func TestAHundredThousandDeletions(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: filling the graph is not quick")
	}
	const many = 100_000
	v := visitor{t, apitest.Handler(t, apitest.New(), func(cfg *httpapi.Config) {
		cfg.Dependency, cfg.RequestTimeout = manyDeletions(t, many), 2*time.Minute
	}), ""}
	began := time.Now()
	page := v.get(http.StatusOK, "/")
	t.Logf("the overview took %s and has %d bytes", time.Since(began), len(page))
	for _, want := range []string{`<a href="./deletions">100,000</a>`, `<a href="./deletions?status=deleted">50,000</a>`, `<a href="./deletions?blocked=true">40</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	for query, want := range map[string]int{"": 100, "status": 100, "blocked": 40} {
		page := v.get(http.StatusOK, "/deletions", query, map[string]string{"status": "deleting", "blocked": "true"}[query])
		if got := strings.Count(page, "<tr>\n<td>"); got != want || (want == 100) != strings.Contains(page, `rel="next"`) {
			t.Errorf("%q: %d rows", query, got)
		}
	}
	next := regexp.MustCompile(`\?cursor=([^"]+)" rel="next"`).FindStringSubmatch(v.get(http.StatusOK, "/deletions"))
	if page := v.get(http.StatusOK, "/deletions", "cursor", next[1]); strings.Count(page, "<tr>\n<td>") != 100 {
		t.Errorf("the second page:\n%s", page)
	}
}

// manyDeletions makes a service on a graph with deletions, every other one in progress.
func manyDeletions(t *testing.T, many int) *dependency.Service {
	t.Helper()
	s, g := apitest.Real(t, "kinds: {bare: {}}")
	records := make([]dependency.DeletionRecord, many)
	for i := range records {
		records[i] = dependency.DeletionRecord{ID: uuid.Must(uuid.NewV7()).String(), Root: "asset", Owner: "acme", Status: dependency.Deleted,
			RequestedAt: time.Now(), DueAt: time.Now(), Total: 1}
		if i%2 == 0 {
			records[i].Status = dependency.Deleting
		}
		if i%(many/40) == 0 {
			records[i].Blocked = &dependency.Blocked{Part: "payload", Reason: "bucket-missing"}
		}
	}
	err := g.Update(t.Context(), func(tx dependency.Tx) error { return tx.SaveDeletions(t.Context(), records) })
	if err != nil {
		t.Fatal(err)
	}
	return s
}
