// Package browser looks at the page with a real Chromium.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// patience is how long a test waits for what must come. It is no limit on speed.
const patience = 90 * time.Second

// names are those under which a Chromium may be installed.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// start runs a browser until the test ends. Without one the test is skipped; with CI=true it fails.
func start(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: a browser is not quick")
	}
	path := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("CI") == "true":
		t.Fatalf("there is no browser: install one of %s", strings.Join(names, ", "))
	case path == "":
		t.Skipf("skipped: there is no browser; install one of %s", strings.Join(names, ", "))
	}
	opts := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir())}
	for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-background-networking",
		"disable-component-update", "disable-sync", "no-first-run", "no-default-browser-check", "hide-scrollbars"} {
		opts = append(opts, chromedp.Flag(flag, true))
	}
	allocator, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), opts...)
	ctx, leave := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("the browser ended with: %v", err)
		}
		leave()
		stop()
	})
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}

// tab is one tab of the browser, on pages of one site.
type tab struct {
	t    *testing.T
	ctx  context.Context
	site string
}

// watching notes what the content security policy stopped, and errors of scripts.
const watching = `window.__stopped = [];
document.addEventListener("securitypolicyviolation", (e) => window.__stopped.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample));
window.addEventListener("error", (e) => window.__stopped.push(e.message));
window.addEventListener("unhandledrejection", (e) => window.__stopped.push(String(e.reason)));`

// newTab opens a tab with cookies of its own. At the end of the test nothing may have been stopped, and no stored script may
// have run, on the page that is then open.
func newTab(t *testing.T, browser context.Context, site string) *tab {
	t.Helper()
	ctx, leave := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	tb := &tab{t, ctx, site}
	t.Cleanup(leave)
	// Not with a time limit: the tab lives as long as the context of its first step.
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watching})
		return err
	}), chromedp.EmulateViewport(1280, 900))
	if err != nil {
		t.Fatal(err)
	}
	return tb
}

func (tb *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tb.t.Fatal(err)
	}
}

// open loads a page, and marks it, so that a reload is noticed.
func (tb *tab) open(path string) {
	tb.t.Helper()
	tb.do(chromedp.Navigate(tb.site+path), chromedp.WaitReady(chromedp.CSS("body")))
	eval[int](tb, `window.__mark = 7`)
}

// eval gives the value of an expression in the page.
func eval[T any](tb *tab, expression string) T {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (tb *tab) text() string {
	tb.t.Helper()
	return eval[string](tb, `document.body?.innerText ?? ""`)
}

// holds tells whether an expression is true. It cannot be asked, which is an error, while a page makes room for the next.
func (tb *tab) holds(expression string) (bool, error) {
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise))
}

// until waits for an expression to be true.
func (tb *tab) until(what, expression string) {
	tb.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		so, err := tb.holds(expression)
		if so {
			return
		}
		if time.Now().After(deadline) {
			tb.t.Fatalf("%s: not so (%v) on a page that shows\n%s", what, err, tb.text())
		}
	}
}

// shows waits until the page shows a text.
func (tb *tab) shows(text string) {
	tb.t.Helper()
	tb.until(fmt.Sprintf("it shows %q", text), fmt.Sprintf(`document.body?.innerText.includes(%s) ?? false`, quote(text)))
}

// quote writes a text as JavaScript does.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if r < 0x80 && r >= ' ' && r != '"' && r != '\\' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// sound fails the test when the page that is open stopped something, ran a stored script, or was loaded anew.
func (tb *tab) sound(where string) {
	tb.t.Helper()
	for _, stopped := range eval[[]string](tb, `window.__stopped`) {
		tb.t.Errorf("%s: stopped, or failed: %s", where, stopped)
	}
	if eval[bool](tb, `window.__xss !== undefined`) {
		tb.t.Errorf("%s: a stored script ran", where)
	}
	if !eval[bool](tb, `window.__mark === 7`) {
		tb.t.Errorf("%s: it was loaded anew", where)
	}
}
