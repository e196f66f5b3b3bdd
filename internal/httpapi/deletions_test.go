package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestDelete(t *testing.T) {
	t.Run("202 with a Location while it runs, 200 once it is deleted", func(t *testing.T) {
		c, s := serve(t)
		c.call("PUT", "/v1/assets/a%2F1", mesh).want(201)
		first := c.call("DELETE", "/v1/assets/a%2F1", "").want(202)
		did, _ := first.json()["id"].(string)
		if got := first.Header.Get("Location"); got != "/v1/deletions/"+did {
			t.Errorf("Location of %s: %q", did, got)
		}
		if again := c.call("DELETE", "/v1/assets/a%2F1", "").want(202).json()["id"]; again != did {
			t.Errorf("the repeat is deletion %s, not %s", again, did)
		}
		s.Finish(did)
		done := c.call("DELETE", "/v1/assets/a%2F1", "").want(200)
		if done.json()["status"] != "deleted" || done.Header.Get("Location") != "" {
			t.Errorf("once deleted: Location %q, %s", done.Header.Get("Location"), done.Body)
		}
		if got := c.call("GET", "/v1/deletions/"+did, "").want(200).json(); got["root"] != "a/1" || got["steps"] == nil {
			t.Errorf("the deletion: %v", got)
		}
	})
	t.Run("a refusal carries its members", func(t *testing.T) {
		c, _ := serve(t)
		c.call("PUT", "/v1/assets/a", mesh).want(201)
		c.call("PUT", "/v1/assets/b", `{"kind":"mesh","links":[{"type":"DEPENDS_ON","to":"a"}]}`).want(201)
		got := c.call("DELETE", "/v1/assets/a", "").problem(409, "has-dependants", "")
		if diff := cmp.Diff([]any{"b"}, got["dependants"]); diff != "" || got["dependants_total"] != 1.0 {
			t.Errorf("%v", got)
		}
		c.call("DELETE", "/v1/assets/b/links/DEPENDS_ON/a", "").want(204)
		c.call("DELETE", "/v1/assets/a", "", "If-Match", `"00000000-0000-7000-8000-000000000000"`).problem(412, "generation-mismatch", "")
	})
	t.Run("query and headers reach the service", func(t *testing.T) {
		c, s := serve(t)
		c.call("PUT", "/v1/assets/a", mesh).want(201)
		generation, _ := c.call("GET", "/v1/assets/a", "").json()["generation"].(string)
		const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		c.call("DELETE", "/v1/assets/a?with_dependants=true&reason=no+longer%20needed", "",
			"If-Match", `"`+generation+`"`, "If-Plan", "abc", "Idempotency-Key", "k-1", "Prefer", "respond-async, wait=20", "traceparent", trace).want(200)
		c.call("DELETE", "/v1/assets/a", "", "traceparent", "nonsense").want(200)
		want := []dependency.DeleteRequest{{
			WithDependants: true, Reason: "no longer needed", IfMatch: generation, IfPlan: "abc", IdempotencyKey: "k-1", Wait: 20 * time.Second, TraceParent: trace,
		}, {}}
		if diff := cmp.Diff(want, s.Requests()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a condition that is empty or means several is refused, not ignored", func(t *testing.T) {
		c, s := serve(t)
		c.call("PUT", "/v1/assets/a", mesh).want(201)
		for _, h := range [][2]string{
			{"If-Match", ""}, {"If-Match", " "}, {"If-Match", `""`}, {"If-Match", `"`}, {"If-Match", `W/"x"`}, {"If-Match", `"x", "y"`}, {"If-Match", `"x`},
			{"If-Plan", ""}, {"Idempotency-Key", ""}, {"Idempotency-Key", strings.Repeat("k", 256)},
		} {
			c.call("DELETE", "/v1/assets/a", "", h[0], h[1]).problem(422, "invalid-request", h[0])
		}
		if n := len(s.Requests()); n != 0 {
			t.Errorf("%d deletions reached the service", n)
		}
		c.call("DELETE", "/v1/assets/a", "", "If-Match", "*").want(202)
	})
}

func TestDeletePart(t *testing.T) {
	c, s := serve(t)
	c.call("PUT", "/v1/assets/a%2F1", mesh).want(201)
	path := "/v1/assets/a%2F1/parts/description"
	first := c.call("DELETE", path+"?reason=old", "", "If-Match", `"g"`, "Idempotency-Key", "k").want(202)
	did, _ := first.json()["id"].(string)
	if got := first.Header.Get("Location"); got != "/v1/deletions/"+did || first.json()["root"] != "a/1" {
		t.Errorf("Location %q, %s", got, first.Body)
	}
	if diff := cmp.Diff([]dependency.DeleteRequest{{Reason: "old", IfMatch: "g", IdempotencyKey: "k"}}, s.Requests()); diff != "" {
		t.Error(diff)
	}
	s.Finish(did)
	c.call("DELETE", path, "").want(200)
	if got := c.call("GET", "/v1/assets/a%2F1", "").want(200).json(); got["status"] != "live" {
		t.Errorf("the asset: %v", got)
	}
	c.call("DELETE", "/v1/assets/a%2F1/parts/nothing", "").problem(404, "unknown-part", "part")
	c.call("DELETE", path, "", "If-Match", "").problem(422, "invalid-request", "If-Match")
}

func TestDeleteMany(t *testing.T) {
	c, s := serve(t)
	c.call("PUT", "/v1/assets/a", mesh).want(201)
	c.call("PUT", "/v1/assets/held", mesh).want(201)
	c.call("PUT", "/v1/assets/held/hold", "").want(204)
	t.Run("a set has one result for each id, and a batch", func(t *testing.T) {
		answer := c.call("POST", "/v1/deletions", `{"ids":["held","a","nobody"],"reason":"all","with_dependants":true}`).want(202)
		batch, _ := answer.json()["batch"].(string)
		if got := answer.Header.Get("Location"); got != "/v1/batches/"+batch {
			t.Errorf("Location %q of %s", got, answer.Body)
		}
		results, _ := answer.json()["results"].([]any)
		var got [][2]any
		for _, r := range results {
			r := r.(map[string]any)
			var name, root any
			if e, ok := r["error"].(map[string]any); ok {
				name = e["type"]
			}
			if d, ok := r["deletion"].(map[string]any); ok {
				root = d["root"]
			}
			got = append(got, [2]any{name, root})
		}
		if diff := cmp.Diff([][2]any{{"/problems/on-hold", nil}, {nil, "a"}, {"/problems/not-found", nil}}, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]dependency.SetRequest{{IDs: []string{"held", "a", "nobody"}, Reason: "all", WithDependants: true}}, s.Sets()); diff != "" {
			t.Error(diff)
		}
		view := c.call("GET", "/v1/batches/"+batch, "").want(200).json()
		if refused, _ := view["refused"].([]any); view["status"] != "deleting" || view["accepted"] != 1.0 || len(refused) != 2 {
			t.Errorf("batch: %v", view)
		}
	})
	t.Run("an owner has a batch", func(t *testing.T) {
		answer := c.call("POST", "/v1/deletions", `{"owner":"default","reason":"leaves"}`).want(202)
		if batch, _ := answer.json()["batch"].(string); answer.Header.Get("Location") != "/v1/batches/"+batch || answer.json()["results"] != nil {
			t.Errorf("%v %s", answer.Header, answer.Body)
		}
	})
	t.Run("what does not say what is refused", func(t *testing.T) {
		for body, field := range map[string]string{
			`{"reason":"x"}`: "ids", `{"ids":[],"reason":"x"}`: "ids", `{"ids":"a","reason":"x"}`: "ids", `{"ids":["a"]}`: "reason",
			`{"ids":["a"],"owner":"o","reason":"x"}`: "ids", `{"owner":"o","reason":"x","with_dependants":true}`: "with_dependants",
			`{"ids":["a"` + strings.Repeat(`,"a"`, 1000) + `],"reason":"x"}`: "ids",
		} {
			if got := c.call("POST", "/v1/deletions", body).want(422).json(); got["field"] != field && got["errors"] == nil {
				t.Errorf("%.60s: field %v, want %s", body, got["field"], field)
			}
		}
		for _, id := range []string{"nothing", "00000000-0000-7000-8000-000000000000"} {
			c.call("GET", "/v1/batches/"+id, "").problem(404, "not-found", "")
		}
	})
}

func TestLists(t *testing.T) {
	c, _ := serve(t)
	for _, path := range []string{"/v1/assets", "/v1/deletions", "/v1/admin/pending"} {
		if got := c.call("GET", path, "").want(200).Body; got != "{\"items\":[]}\n" {
			t.Errorf("%s of nothing: %s", path, got)
		}
	}
	for _, id := range []string{"a", "b", "c"} {
		c.call("PUT", "/v1/assets/"+id, mesh).want(201)
	}
	page := c.call("GET", "/v1/assets?limit=2&kind=mesh&status=live&owner=default", "").want(200).json()
	if items, _ := page["items"].([]any); len(items) != 2 || page["next_cursor"] != "b" {
		t.Errorf("first page: %v", page)
	}
	page = c.call("GET", "/v1/assets?limit=2&cursor=b", "").want(200).json()
	if items, _ := page["items"].([]any); len(items) != 1 || page["next_cursor"] != nil {
		t.Errorf("second page: %v", page)
	}
	c.call("DELETE", "/v1/assets/a", "").want(202)
	for path, want := range map[string]string{
		"/v1/deletions?status=deleting&stalled=false": `"root":"a"`, "/v1/admin/pending": `"asset":"a"`, "/v1/assets?status=deleting": `"id":"a"`,
	} {
		if got := c.call("GET", path, "").want(200).Body; !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := c.call("GET", "/v1/deletions?stalled=true", "").want(200).Body; got != "{\"items\":[]}\n" {
		t.Errorf("stalled deletions: %s", got)
	}
}

func TestReplay(t *testing.T) {
	c, s := serve(t)
	for _, body := range []string{`{"all":true}`, `{"all":true,"older_than":"1m"}`, `{"deletions":["x","y"]}`} {
		if got := c.call("POST", "/v1/admin/pending/replay", body).want(200).json(); got["driven"] == nil {
			t.Errorf("%s: %v", body, got)
		}
	}
	want := []dependency.Drive{{All: true}, {All: true, OlderThan: time.Minute}, {Deletions: []string{"x", "y"}}}
	if diff := cmp.Diff(want, s.Drives()); diff != "" {
		t.Error(diff)
	}
}

func TestAssets(t *testing.T) {
	c, _ := serve(t)
	body := `{"kind":"mesh","owner":"acme","attributes":{"n":1.5,"s":"<&>"},"bytes":7}`
	created := c.call("PUT", "/v1/assets/a", body).want(201).json()
	if got := c.call("GET", "/v1/assets/a", "").want(200).json(); !cmp.Equal(created, got) {
		t.Errorf("GET and PUT differ: %s", cmp.Diff(created, got))
	}
	if created["owner"] != "acme" || created["bytes"] != 7.0 || !cmp.Equal(created["attributes"], map[string]any{"n": 1.5, "s": "<&>"}) {
		t.Errorf("the asset: %v", created)
	}
	changed := c.call("PUT", "/v1/assets/a", mesh).want(200).json()
	if changed["bytes"] != 7.0 || changed["generation"] != created["generation"] {
		t.Errorf("what the body leaves out has changed: %v", changed)
	}
}

func TestDocuments(t *testing.T) {
	c, s := serve(t)
	c.call("PUT", "/v1/assets/a%2Fb", mesh).want(201)
	const path = "/v1/assets/a%2Fb/documents/description"
	c.call("GET", path, "").problem(404, "not-found", "")
	c.call("PUT", path, `{"text":"<b>","big":9007199254740993,"list":[1,2.5],"deep":{"n":-3}}`, "Lease-Token", "lease-1").want(204)
	if got := c.call("GET", path, "").want(200).Body; got != `{"big":9007199254740993,"deep":{"n":-3},"list":[1,2.5],"text":"<b>"}`+"\n" {
		t.Errorf("the document: %s", got)
	}
	if diff := cmp.Diff([]string{"lease-1"}, s.Leases()); diff != "" {
		t.Error(diff)
	}
	c.call("DELETE", "/v1/assets/a%2Fb", "").want(202)
	c.call("GET", path, "").problem(410, "gone", "")
}
