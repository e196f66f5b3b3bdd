package browser

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/internal/web"
)

// fill writes into a field, and sends its form with the Enter key.
func (tb *tab) fill(field, text string) {
	tb.t.Helper()
	tb.do(chromedp.SendKeys(chromedp.CSS(field), text+kb.Enter))
}

func testOperations(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	w.create("texture")
	tb := newTab(t, chrome, w.url)
	tb.open("/operations")
	tb.fill("form[action='./pause'] input[name=reason]", "a backup is restored")
	tb.shows("Physical deletion is paused by anonymous since")
	watching := newTab(t, chrome, w.url)
	watching.open("/")
	watching.shows("a backup is restored")
	tb.fill("form[action='./resume'] input[name=confirm]", "yes")
	tb.shows("nothing was resumed")
	tb.open("/operations")
	tb.fill("form[action='./resume'] input[name=confirm]", "resume")
	tb.shows("It goes on.")
	tb.open("/asset?id=texture")
	tb.do(chromedp.Click(chromedp.CSS("#holding summary")))
	tb.fill("form[action='./hold'] input[name=reason]", "case 4711")
	tb.shows("case 4711")
	tb.do(chromedp.Click(chromedp.CSS("#holding summary")))
	tb.fill("form[action='./release'] input[name=confirm]", "texture")
	tb.until("the hold has ended", `document.querySelector("form[action='./hold']") !== null`)
	if strings.Contains(tb.text(), "case 4711") {
		t.Error("it is held still")
	}
}

// TestEveryPageIsLookedAt holds the pages that the tests above look at to those that there are.
func TestEveryPageIsLookedAt(t *testing.T) {
	site, err := web.New(web.Config{Service: apitest.New(), Auth: apitest.Anybody{}, API: &huma.OpenAPI{}, RequestTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, v := range newWorld(t).full("x") {
		path, _, _ := strings.Cut(v.path, "?")
		seen = append(seen, path)
	}
	for _, r := range site.Routes() {
		if r.Method == http.MethodGet && !slices.Contains(seen, r.Path) && !slices.Contains([]string{"/style.css", "/page.js", "/icon.svg", "/live"}, r.Path) {
			t.Errorf("no test looks at %s", r.Path)
		}
	}
}
