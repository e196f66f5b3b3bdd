package browser

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// world is a service in memory and a caller who fills it.
type world struct {
	*apitest.Service
	t   *testing.T
	ctx context.Context
	url string
}

func newWorld(t *testing.T, change ...func(*httpapi.Config)) *world {
	s := apitest.New()
	roomy := func(cfg *httpapi.Config) { cfg.RequestTimeout = patience }
	return &world{s, t, dependency.WithCaller(t.Context(), dependency.Caller{Subject: "olga", Owner: "acme", Operator: true}),
		apitest.Serve(t, s, append(change, roomy)...)}
}

func (w *world) create(id string, needs ...string) {
	w.t.Helper()
	links := []dependency.LinkTo{}
	for _, to := range needs {
		links = append(links, dependency.LinkTo{Type: apitest.LinkType, To: to})
	}
	if _, _, err := w.PutAsset(w.ctx, id, dependency.Put{Kind: apitest.Kind, Links: &links}); err != nil {
		w.t.Fatal(err)
	}
}

// remove asks for a deletion, which is scheduled for the grace.
func (w *world) remove(id, reason string, grace time.Duration) string {
	w.t.Helper()
	w.Grace = grace
	d, err := w.Delete(w.ctx, id, dependency.DeleteRequest{Reason: reason})
	if err != nil {
		w.t.Fatal(err)
	}
	return d.ID
}

// put gives an asset attributes.
func (w *world) put(id string, attributes map[string]any) {
	w.t.Helper()
	if _, _, err := w.PutAsset(w.ctx, id, dependency.Put{Kind: apitest.Kind, Attributes: attributes}); err != nil {
		w.t.Fatal(err)
	}
}

// visit is a page: its address, and the form on it that is sent then, if any.
type visit struct{ path, form string }

// visit opens a page.
func (tb *tab) visit(v visit) {
	tb.t.Helper()
	tb.open(v.path)
	if v.form == "" {
		return
	}
	eval[int](tb, `setTimeout((form) => form.submit(), 0, document.querySelector(`+quote("form[action='"+v.form+"']")+`)), 0`)
	tb.until("the answer to "+v.form, `window.__mark === undefined && document.readyState === "complete"`)
	eval[int](tb, `window.__mark = 7`)
}

// full has something of everything, all texts of outsiders being text; it gives every page.
func (w *world) full(text string) map[string]visit {
	w.t.Helper()
	w.ctx = dependency.WithCaller(w.t.Context(), dependency.Caller{Subject: "olga " + text, Owner: "acme " + text, Operator: true})
	w.create("needed")
	w.create("asset "+text, "needed")
	w.put("asset "+text, map[string]any{"name " + text: text, "list": []any{text}})
	w.create("needs "+text, "asset "+text)
	done := w.remove("needs "+text, text, 0)
	w.Finish(done)
	scheduled := w.remove("asset "+text, text, time.Hour)
	w.create("stalled " + text)
	stalled := w.remove("stalled "+text, text, 0)
	w.Stall(stalled, text)
	w.create("blocked " + text)
	blocked := w.remove("blocked "+text, text, 0)
	w.Block(blocked, text, time.Now().Add(time.Hour))
	w.create("given up " + text)
	forced := w.remove("given up "+text, text, 0)
	_, failed := w.Force(w.ctx, forced, dependency.Force{Part: apitest.Part, Reason: text})
	w.create("kept "+text, "needed")
	w.create("user "+text, "kept "+text)
	for _, err := range []error{failed, w.Hold(w.ctx, "needed", text), w.Pause(w.ctx, text)} {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	found := dependency.Findings{Candidates: []dependency.Candidate{{Asset: "asset " + text, Part: "raw " + text, Place: "bucket/" + text, Reason: text, Bytes: 7}}, Total: 2, Bytes: 7,
		ExceedsShare: []dependency.OwnerShare{{Owner: text, Candidates: 1, Live: 1}}}
	w.Orphan(found)
	w.Expire(dependency.Expired{Findings: found, Groups: []dependency.ExpiredGroup{{Kind: "check", Part: "raw", Owner: text, Total: 2}}, Left: dependency.Left{Held: 1}})
	query := func(path string, pairs ...string) visit {
		values := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			values.Set(pairs[i], pairs[i+1])
		}
		return visit{path: path + "?" + values.Encode()}
	}
	return map[string]visit{
		"overview": {path: "/"}, "deletions": {path: "/deletions"}, "scheduled": query("/deletion", "id", scheduled), "stalled": query("/deletion", "id", stalled),
		"blocked": query("/deletion", "id", blocked), "done": query("/deletion", "id", done), "given up": query("/deletion", "id", forced),
		"assets": {path: "/assets"}, "asset": query("/asset", "id", "asset "+text), "kept": query("/asset", "id", "kept "+text), "needed": query("/asset", "id", "needed"),
		"delete": query("/delete", "id", "kept "+text), "delete all": query("/delete", "id", "kept "+text, "with_dependants", "true"), "pending": {path: "/pending"},
		"audit": query("/audit", "asset", "asset "+text), "usage": query("/usage", "owner", text), "operations": {path: "/operations"},
		"retention": {"/retention", "./retention"}, "sweep": {"/sweep", "./sweep"}, "docs": {path: "/docs"},
		"refusal": query("/asset", "id", text), "refused form": {query("/delete", "id", "kept "+text, "with_dependants", "true").path, "./delete"},
		"queries of deletions": query("/deletions", "status", text, "owner", text, "batch", text, "cursor", text, "stalled", text, "blocked", text),
		"queries of assets":    query("/assets", "kind", text, "owner", text, "status", text, "cursor", text), "queries of pending": query("/pending", "cursor", text, "driven", text),
		"queries of a deletion": query("/deletion", "id", text, "cursor", text), "queries of the trail": query("/audit", "asset", text, "cursor", text),
		"queries of a form": query("/delete", "id", text, "with_dependants", text), "queries of a receipt": query("/receipt", "id", text),
	}
}

// library is a small mesh library in which much happens; it gives a deletion that is blocked.
func (w *world) library() (blocked string) {
	w.create("oak-bark")
	for _, id := range []string{"oak", "bark", "forest-floor", "birch", "ford", "slate", "boulder", "clearing", "teapot"} {
		w.create(id)
	}
	w.create("oak", "oak-bark")
	w.create("bark", "oak-bark")
	w.create("oak-bark", "slate", "ford")
	for _, id := range []string{"teapot", "clearing", "boulder"} {
		w.Finish(w.remove(id, "no longer shown", 0))
	}
	w.remove("birch", "licence ended", 26*time.Hour)
	w.create("old-scan")
	blocked = w.remove("old-scan", "right to erasure", 0)
	w.Block(blocked, "object-lock: payload/3f/old-scan/geometry.bin is retained", time.Now().Add(5*time.Hour))
	w.create("moss")
	w.Stall(w.remove("moss", "duplicate", 0), "delete objects: connection refused")
	w.remove("forest-floor", "no longer shown", 0)
	return blocked
}
