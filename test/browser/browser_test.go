package browser

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

var update = flag.Bool("update", false, "write the pictures of the documents anew")

// nasty runs a script where it is shown without escaping.
const nasty = `<img src=x onerror="window.__xss=1">`

func TestPage(t *testing.T) {
	chrome := start(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"the overview follows without a reload":                      testFollowing,
		"a stored script is text on every page":                      testStoredScripts,
		"an asset can be deleted with the keyboard alone":            testKeyboard,
		"the focus stays where it is while parts are put in place":   testFocus,
		"a token is kept where no script can read it":                testSigningIn,
		"everything can be read without script":                      testWithoutScript,
		"assistive technology is given a name for everything":        testTree,
		"an operator stops and goes on, holds and releases":          testOperations,
		"every page has landmarks, headings, labels and no id twice": testStructure,
		"text stands out in the light and in the dark":               testContrast,
		"pictures for the documents":                                 testPictures,
	} {
		t.Run(name, func(t *testing.T) { test(t, chrome) })
	}
}

func testFollowing(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	tb := newTab(t, chrome, w.url)
	tb.open("/")
	tb.until("it is live", `document.getElementById("live").textContent === "live"`)
	w.create("watched-asset")
	did := w.remove("watched-asset", "law", 0)
	tb.shows("watched-asset")
	tb.shows("requested, in progress")
	other := newTab(t, chrome, w.url)
	other.open("/deletion?id=" + did)
	other.shows("requested, in progress")
	w.Finish(did)
	tb.shows("completed 20") // with the time
	tb.sound("the overview after the completion")
	other.shows("deletion completed")
	other.until("nothing can be given up any more", `document.querySelector("details") === null`)
	other.sound("the deletion after the completion")
	tb.until("a screen reader is told", `document.getElementById("news").textContent.startsWith("1 requested, 1 completed")`)
	if strings.Contains(tb.text(), "requested, in progress") {
		t.Error("it still says in progress")
	}
}

func testStoredScripts(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	tb := newTab(t, chrome, w.url)
	for name, v := range w.full(nasty + `</script><script>window.__xss=2</script>{{constructor}}` + "\u202e") {
		tb.visit(v)
		if name != "docs" && !strings.HasPrefix(name, "queries of") {
			tb.shows(`img src=x onerror=`)
		}
		if strings.ContainsRune(tb.text(), '\u202e') {
			t.Errorf("%s shows a character that turns the text round", name)
		}
		if eval[bool](tb, `document.querySelector("[data-live]") !== null`) { // put in place by the script, too
			eval[int](tb, `refresh(), 0`)
			tb.until("it was fetched again", `!fetching && !timer`)
		}
		tb.sound(name)
	}
}

// press sends keys until an element has the focus.
func (tb *tab) press(key, until string) {
	tb.t.Helper()
	for range 200 {
		if eval[bool](tb, `document.activeElement.matches(`+quote(until)+`)`) {
			return
		}
		tb.do(chromedp.KeyEvent(key))
	}
	tb.t.Fatalf("the focus never comes to %s", until)
}

func testKeyboard(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	w.create("texture")
	tb := newTab(t, chrome, w.url)
	tb.open("/asset?id=texture")
	tb.do(chromedp.KeyEvent(kb.Tab))
	if !eval[bool](tb, `document.activeElement.matches(".skip") && document.activeElement.getBoundingClientRect().left >= 0`) {
		t.Error("the first stop is not a visible way past the navigation")
	}
	tb.do(chromedp.KeyEvent(kb.Enter))
	tb.until("the focus is on the content", `document.activeElement.id === "main"`)
	tb.press(kb.Tab, `a[href="./delete?id=texture"]`)
	if eval[string](tb, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
		t.Error("the focus cannot be seen")
	}
	tb.do(chromedp.KeyEvent(kb.Enter))
	tb.until("the form came", `document.querySelector("input[name=confirm]") !== null`)
	tb.press(kb.Tab, `input[name=reason]`)
	tb.do(chromedp.KeyEvent("law"))
	tb.press(kb.Tab, `input[name=confirm]`)
	tb.do(chromedp.KeyEvent("texture"), chromedp.KeyEvent(kb.Enter))
	tb.until("the deletion came", `location.pathname === "/deletion"`)
	tb.shows("requested, in progress")
	if got := w.Requests(); len(got) != 1 || got[0].Reason != "law" || got[0].IfMatch == "" {
		t.Errorf("asked for %+v", got)
	}
}

func testFocus(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	w.create("one")
	first := w.remove("one", "", 0)
	tb := newTab(t, chrome, w.url)
	tb.open("/")
	link := `#latest-rows a[href="./deletion?id=` + first + `"]`
	eval[int](tb, `document.querySelector(`+quote(link)+`).focus(), 0`)
	w.create("two")
	w.remove("two", "", 0)
	tb.shows("two")
	if !eval[bool](tb, `document.activeElement.matches(`+quote(link)+`)`) {
		t.Errorf("the focus went to %s", eval[string](tb, `document.activeElement.outerHTML`))
	}
	tb.sound("after the change")
}

func testSigningIn(t *testing.T, chrome context.Context) {
	w := newWorld(t, func(cfg *httpapi.Config) {
		cfg.Auth = apitest.Callers{"a token": {Subject: "olga", Owner: "acme", Operator: true}}
	})
	tb := newTab(t, chrome, w.url)
	tb.open("/pending")
	tb.shows("Sign in")
	tb.do(chromedp.SendKeys(chromedp.CSS("input[name=token]"), "wrong"+kb.Enter))
	tb.until("the refusal came", `location.pathname === "/signin" && document.readyState === "complete"`)
	tb.shows("not known")
	tb.do(chromedp.SendKeys(chromedp.CSS("input[name=token]"), "a token"+kb.Enter))
	tb.until("it leads where it was asked for", `location.pathname === "/pending" && document.querySelector("#flags") !== null`)
	tb.until("the stream knows the caller", `document.getElementById("live").textContent === "live"`)
	if kept := eval[string](tb, `document.cookie + JSON.stringify(sessionStorage) + JSON.stringify(localStorage)`); kept != "{}{}" {
		t.Errorf("scripts can read %s", kept)
	}
	if got := eval[int](tb, `fetch("/v1/overview").then((r) => r.status)`); got != 401 {
		t.Errorf("the API takes the cookie: %d", got)
	}
	tb.do(chromedp.Click(chromedp.CSS("form[action='./signout'] button")))
	tb.until("signed out", `document.querySelector("input[name=token]") !== null`)
}

func testWithoutScript(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	pages := w.full("of an outsider")
	tb := newTab(t, chrome, w.url)
	tb.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	for name, texts := range map[string][]string{
		"overview": {"asset of an outsider", "Requested", "Completed", "begins in", "stalled", "blocked", "is tried again by itself in"}, "asset": {"What depends on it", "DEPENDS_ON", "needed"},
		"done": {"Download the receipt", "deletion completed"}, "scheduled": {"Cancel this deletion", "its end"}, "pending": {"Replay all"}, "audit": {"deletion requested"},
	} {
		tb.do(chromedp.Navigate(w.url + pages[name].path))
		for _, text := range texts {
			tb.shows(text)
		}
	}
	tb.do(chromedp.Navigate(w.url+pages["scheduled"].path), chromedp.Click(chromedp.CSS("#cancel")))
	tb.shows("deletion cancelled")
}

// structure lists what a page lacks.
const structure = `(() => {
	const lacks = [], all = (s) => [...document.querySelectorAll(s)];
	for (const one of ["main", "h1", "header", "footer", "[role=status][aria-live]"]) if (one === "[role=status][aria-live]" ? all(one).length < 1 : all("body " + one).length !== 1) lacks.push(one + " once");
	if (!document.documentElement.lang || !document.title) lacks.push("a language and a title");
	for (const e of all("input:not([type=hidden]), select, textarea")) if (e.labels.length === 0 || !e.labels[0].textContent.trim()) lacks.push("a label of " + e.outerHTML);
	for (const e of all("button, a[href], summary")) if (!(e.textContent.trim() || e.getAttribute("aria-label"))) lacks.push("a name of " + e.outerHTML);
	for (const e of all("svg")) if (!e.getAttribute("aria-label")) lacks.push("a name of a picture");
	for (const e of all("nav")) if (!e.getAttribute("aria-label")) lacks.push("a name of a navigation");
	const ids = all("[id]").map((e) => e.id);
	for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) lacks.push("a second id than " + id);
	let level = 0;
	for (const e of all("h1, h2, h3, h4")) { const l = Number(e.tagName[1]); if (l > level + 1) lacks.push("a heading before " + e.textContent); level = l; }
	for (const e of all("[aria-labelledby]")) if (!document.getElementById(e.getAttribute("aria-labelledby"))) lacks.push("a label of " + e.id);
	return lacks;
})()`

func testStructure(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	tb := newTab(t, chrome, w.url)
	for name, v := range w.full("x") {
		tb.visit(v)
		if diff := cmp.Diff([]string{}, eval[[]string](tb, structure)); diff != "" {
			t.Errorf("%s lacks (-want +got):\n%s", name, diff)
		}
	}
}

// contrast lists texts that stand out less than WCAG asks for (AA: 4.5 to 1).
const contrast = `(() => {
	const rgb = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? undefined : m; };
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const faint = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || e.closest("svg, .unseen, script")) continue;
		let ground, at = e;
		while (!ground && at) { ground = rgb(getComputedStyle(at).backgroundColor); at = at.parentElement; }
		const a = light(rgb(getComputedStyle(e).color)), b = light(ground ?? [255, 255, 255]);
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) faint.add(e.tagName + "." + e.className + " " + ratio.toFixed(2));
	}
	return [...faint];
})()`

func (tb *tab) scheme(scheme string) {
	tb.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
}

func testContrast(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	pages := w.full("x")
	tb := newTab(t, chrome, w.url)
	grounds := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		tb.scheme(scheme)
		for name, v := range pages {
			tb.visit(v)
			if faint := eval[[]string](tb, contrast); len(faint) > 0 {
				t.Errorf("%s, %s: %v", name, scheme, faint)
			}
		}
		grounds[scheme] = eval[string](tb, `getComputedStyle(document.body).backgroundColor`)
	}
	if grounds["light"] == grounds["dark"] {
		t.Errorf("both are %s", grounds["light"])
	}
}

// testPictures takes the pictures of README, and writes them with -update.
func testPictures(t *testing.T, chrome context.Context) {
	w := newWorld(t)
	deletion := w.library()
	tb := newTab(t, chrome, w.url)
	for _, p := range []struct{ name, path, scheme string }{
		{"overview", "/", "light"}, {"overview-dark", "/", "dark"}, {"deletion", "/deletion?id=" + deletion, "light"}, {"asset", "/asset?id=oak-bark", "light"},
	} {
		tb.scheme(p.scheme)
		tb.open(p.path)
		tb.until("it is live", `document.getElementById("live").textContent === "live"`)
		ctx, cancel := context.WithTimeout(tb.ctx, patience)
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		cancel()
		if err != nil || len(picture) < 10_000 {
			t.Fatalf("%s: %d bytes, %v", p.name, len(picture), err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join("../../docs/images", p.name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
