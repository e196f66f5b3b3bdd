package httpapi_test

import (
	"strings"
	"testing"
)

func TestBadRequestsAreRefusedByName(t *testing.T) {
	c, _ := serve(t)
	c.call("PUT", "/v1/assets/a", mesh).want(201)
	const uuid = "00000000-0000-7000-8000-000000000000"
	for _, b := range []struct {
		method, target, body string
		status               int
		name, field          string
	}{
		{"PUT", "/v1/assets/x", "{", 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", "[]", 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", `"text"`, 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", "null", 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", "", 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", mesh + "{}", 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", "{\"kind\":\"mesh\",\"owner\":\"\xff\"}", 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","owner":"\ud800"}`, 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","kind":"mesh"}`, 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","attributes":{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", `{"kind":7}`, 422, "invalid-request", "kind"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","owner":["acme"]}`, 422, "invalid-request", "owner"},
		{"PUT", "/v1/assets/x", `{"owner":"acme"}`, 422, "invalid-request", "kind"},
		{"PUT", "/v1/assets/x", `{"Kind":"mesh"}`, 422, "invalid-request", "kind"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","colour":"red"}`, 422, "invalid-request", "colour"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","links":[{"type":"DEPENDS_ON","to":"a","weight":1}]}`, 422, "invalid-request", "links[0].weight"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","links":[{"type":"DEPENDS_ON"}]}`, 422, "invalid-request", "links[0].to"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","bytes":-1}`, 422, "invalid-request", "bytes"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","bytes":1.5}`, 422, "invalid-request", "bytes"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","bytes":1e40}`, 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/x", `{"kind":"no-such-kind"}`, 422, "unknown-kind", "kind"},
		{"PUT", "/v1/assets/x", `{"kind":"mesh","links":[{"type":"DEPENDS_ON","to":"nobody"}]}`, 404, "link-target-not-found", "links[0].to"},
		{"PUT", "/v1/assets/x", mesh, 201, "", ""}, // nothing before it made an asset
		{"PUT", "/v1/assets/x?dry_run=true", mesh, 422, "invalid-request", "dry_run"},
		{"DELETE", "/v1/assets/a?dry_run=true", "", 422, "invalid-request", "dry_run"},
		{"DELETE", "/v1/assets/a?with_dependants=perhaps", "", 422, "invalid-request", "with_dependants"},
		{"DELETE", "/v1/assets/a?reason=%zz", "", 422, "invalid-request", "query"},
		{"DELETE", "/v1/assets/a?reason=" + strings.Repeat("x", 1001), "", 422, "invalid-request", "reason"},
		{"DELETE", "/v1/assets/nobody", "", 404, "not-found", ""},
		{"PUT", "/v1/assets/a/links/NO_SUCH_LINK/a", "", 422, "unknown-link-type", "type"},
		{"GET", "/v1/deletions/not-a-uuid", "", 404, "not-found", ""},
		{"GET", "/v1/deletions/" + strings.ToUpper("0000000a-0000-7000-8000-000000000000"), "", 404, "not-found", ""},
		{"GET", "/v1/deletions/" + uuid, "", 404, "not-found", ""},
		{"GET", "/v1/batches/not-a-uuid", "", 404, "not-found", ""},
		{"GET", "/v1/batches/0000000A-0000-7000-8000-000000000000", "", 404, "not-found", ""},
		{"GET", "/v1/assets?limit=-1", "", 422, "invalid-request", "limit"},
		{"GET", "/v1/assets?limit=0", "", 422, "invalid-request", "limit"},
		{"GET", "/v1/assets?limit=1001", "", 422, "invalid-request", "limit"},
		{"GET", "/v1/assets?limit=many", "", 422, "invalid-request", "limit"},
		{"GET", "/v1/assets?cursor=%00%ff", "", 422, "invalid-request", "cursor"},
		{"GET", "/v1/assets?cursor=" + strings.Repeat("x", 2049), "", 422, "invalid-request", "cursor"},
		{"GET", "/v1/assets?status=sleeping", "", 422, "invalid-request", "status"},
		{"GET", "/v1/deletions?status=live", "", 422, "invalid-request", "status"},
		{"GET", "/v1/deletions?stalled=maybe", "", 422, "invalid-request", "stalled"},
		{"POST", "/v1/admin/pending/replay", `{}`, 422, "invalid-request", "deletions"},
		{"POST", "/v1/admin/pending/replay", `{"all":true,"deletions":["x"]}`, 422, "invalid-request", "deletions"},
		{"POST", "/v1/admin/pending/replay", `{"all":true,"older_than":"soon"}`, 422, "invalid-request", "older_than"},
		{"POST", "/v1/admin/pending/replay", `{"all":true,"older_than":"-1m"}`, 422, "invalid-request", "older_than"},
		{"POST", "/v1/admin/pending/replay", `{"deletions":["x"],"older_than":"1m"}`, 422, "invalid-request", "older_than"},
		{"PUT", "/v1/assets/a/documents/description", `{`, 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/a/documents/description", `[1]`, 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/a/documents/description", `{"x":1e999}`, 422, "invalid-request", "body"},
		{"PUT", "/v1/assets/a/documents/no-such-part", `{}`, 404, "unknown-part", "part"},
		{"PATCH", "/v1/assets/a", `{}`, 405, "method-not-allowed", ""},
		{"GET", "/v2/assets", "", 404, "not-found", ""},
		{"GET", "/v1/assets/a/", "", 404, "not-found", ""},
		{"GET", "/v1//assets", "", 404, "not-found", ""},
	} {
		a := c.call(b.method, b.target, b.body)
		if b.name == "" {
			a.want(b.status)
			continue
		}
		a.problem(b.status, b.name, b.field)
	}
	if got := c.call("GET", "/v1/assets/a", "").want(200).json()["status"]; got != "live" {
		t.Errorf("the asset is %s after bad requests", got)
	}
}

func TestSeveralFaultsAreAllTold(t *testing.T) {
	c, _ := serve(t)
	got := c.call("PUT", "/v1/assets/x", `{"kind":7,"bytes":-1}`).want(422).json()
	if list, _ := got["errors"].([]any); len(list) != 2 {
		t.Errorf("expected two errors, got %v", got)
	}
}

func TestBodiesHaveALimit(t *testing.T) {
	c, _ := serve(t)
	body := func(size int) string {
		const start, end = `{"kind":"mesh","attributes":{"x":"`, `"}}`
		return start + strings.Repeat("x", size-len(start)-len(end)) + end
	}
	c.call("PUT", "/v1/assets/fits", body(1<<20)).want(201)
	c.call("PUT", "/v1/assets/too-large", body(1<<20+1)).problem(413, "payload-too-large", "body")
	c.call("GET", "/v1/assets/too-large", "").problem(404, "not-found", "")
}

func TestBodiesAreJSON(t *testing.T) {
	c, _ := serve(t)
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "nonsense"} {
		c.call("PUT", "/v1/assets/x", mesh, "Content-Type", media).problem(422, "invalid-request", "Content-Type")
	}
	c.call("PUT", "/v1/assets/x", mesh, "Content-Type", "application/json; charset=utf-8").want(201)
	c.call("POST", "/v1/assets", `{"id":"y","kind":"mesh"}`).problem(422, "invalid-request", "Content-Type")
}

func TestAMethodThatThePathDoesNotHave(t *testing.T) {
	c, _ := serve(t)
	for target, allow := range map[string]string{
		"/v1/assets/a":     "GET, PUT, DELETE, HEAD",
		"/v1/assets/a%2Fb": "GET, PUT, DELETE, HEAD",
		"/v1/deletions":    "GET, POST, HEAD",
		"/healthz":         "GET, HEAD",
	} {
		a := c.call("PATCH", target, "")
		a.problem(405, "method-not-allowed", "")
		if got := a.Header.Get("Allow"); got != allow {
			t.Errorf("%s: expected Allow: %s, got %s", target, allow, got)
		}
	}
	c.call("HEAD", "/healthz", "").want(200)
}
