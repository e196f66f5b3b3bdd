package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/receipt"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const nobody = "00000000-0000-7000-8000-000000000000"

// deleted asks for a deletion and gives its id.
func (c caller) deleted(id string) string {
	c.t.Helper()
	c.call("PUT", "/v1/assets/"+esc(id), mesh).want(201)
	did, _ := c.call("DELETE", "/v1/assets/"+esc(id)+"?reason=law", "").want(202).json()["id"].(string)
	return did
}

func TestCancel(t *testing.T) {
	c, s := serve(t)
	s.Grace = time.Hour
	did := c.deleted("a")
	for _, body := range []string{"", "{}", "{}"} { // without a body, with one, and again
		if got := c.call("POST", "/v1/deletions/"+did+"/cancel", body).want(200).json(); got["id"] != did || got["status"] != "cancelled" || got["steps"] == nil {
			t.Errorf("cancelled: %v", got)
		}
	}
	if got := c.call("GET", "/v1/assets/a", "").want(200).json()["status"]; got != "live" {
		t.Errorf("the asset is %v", got)
	}
	s.Grace = 0
	did = c.deleted("b")
	c.call("POST", "/v1/deletions/"+did+"/cancel", "").problem(409, "too-late", "")
	c.call("POST", "/v1/deletions/"+nobody+"/cancel", "").problem(404, "not-found", "")
	c.call("POST", "/v1/deletions/x/cancel", "").problem(404, "not-found", "")
}

func TestHold(t *testing.T) {
	c, _ := serve(t)
	c.call("PUT", "/v1/assets/a%2F1", mesh).want(201)
	const path = "/v1/assets/a%2F1/hold"
	if got := c.call("PUT", path, `{"reason":"law"}`).want(204).Body; got != "" {
		t.Errorf("body: %q", got)
	}
	hold, _ := c.call("GET", "/v1/assets/a%2F1", "").want(200).json()["hold"].(map[string]any)
	if hold["by"] != "anonymous" || hold["reason"] != "law" || hold["at"] == nil {
		t.Errorf("hold: %v", hold)
	}
	c.call("DELETE", "/v1/assets/a%2F1", "").problem(423, "on-hold", "")
	c.call("DELETE", path, "").want(204)
	if got := c.call("GET", "/v1/assets/a%2F1", "").want(200).json(); got["hold"] != nil {
		t.Errorf("after the release: %v", got["hold"])
	}
	for _, body := range []string{"", "{}"} { // the reason, and the body with it, may be left out
		c.call("PUT", path, body).want(204)
	}
	c.call("PUT", path, `{"reason":"`+strings.Repeat("x", 1001)+`"}`).problem(422, "invalid-request", "reason")
	c.call("PUT", path, `{"because":"law"}`).problem(422, "invalid-request", "because")
	c.call("PUT", path, `{`).problem(422, "invalid-request", "body")
	c.call("PUT", "/v1/assets/nobody/hold", "").problem(404, "not-found", "")
	c.call("DELETE", "/v1/assets/nobody/hold", "").problem(404, "not-found", "")
	c.call("PUT", "/v1/assets/a%00/hold", "").problem(422, "invalid-id", "id")
}

func TestExplain(t *testing.T) {
	c, s := serve(t)
	did := c.deleted("a")
	path := "/v1/deletions/" + did + "/explain"
	got := c.call("GET", path, "").want(200).json()
	if diff := cmp.Diff([]any{}, got["causes"]); diff != "" || got["waits_for"] == "" || got["deletion"] != did || got["may_do"] == nil || got["paused"] != false {
		t.Errorf("explained: %v", got)
	}
	s.Stall(did, "no such bucket")
	c.call("POST", "/v1/admin/pause", `{"reason":"a backup is restored"}`).want(204)
	if pause, _ := c.call("GET", "/v1/overview", "").want(200).json()["pause"].(map[string]any); pause["reason"] != "a backup is restored" || pause["by"] == "" {
		t.Errorf("the overview says of the pause: %v", pause)
	}
	got = c.call("GET", path, "").want(200).json()
	if causes, _ := got["causes"].([]any); len(causes) != 1 || got["last_error"] != "no such bucket" || got["paused"] != true || got["stalled"] != true {
		t.Errorf("explained: %v", got)
	}
	c.call("GET", "/v1/deletions/"+nobody+"/explain", "").problem(404, "not-found", "")
}

func TestStalledAndRetry(t *testing.T) {
	c, s := serve(t)
	did := c.deleted("a")
	if got := c.call("GET", "/v1/admin/stalled", "").want(200).Body; got != "{\"items\":[]}\n" {
		t.Errorf("nothing is stalled: %s", got)
	}
	s.Stall(did, "no such bucket")
	if got := c.call("GET", "/v1/admin/stalled", "").want(200).Body; !strings.Contains(got, `"id":"`+did) || !strings.Contains(got, "no such bucket") {
		t.Errorf("stalled: %s", got)
	}
	for _, body := range []string{`{"all":true}`, `{"all":true,"older_than":"1m"}`, `{"deletions":["` + did + `"]}`} {
		if got := c.call("POST", "/v1/admin/stalled/retry", body).want(200).json(); got["driven"] != 1.0 {
			t.Errorf("%s: %v", body, got)
		}
	}
	if diff := cmp.Diff([]dependency.Drive{{All: true}, {All: true, OlderThan: time.Minute}, {Deletions: []string{did}}}, s.Drives()); diff != "" {
		t.Error(diff)
	}
	c.call("POST", "/v1/admin/stalled/retry", `{}`).problem(422, "invalid-request", "deletions")
	c.call("POST", "/v1/admin/stalled/retry", ``).problem(422, "invalid-request", "body")
}

func TestForce(t *testing.T) {
	c, _ := serve(t)
	path := "/v1/deletions/" + c.deleted("a") + "/force"
	for body, field := range map[string]string{
		`{"part":"description"}`: "reason", `{"reason":"gone"}`: "part", `{"part":"","reason":"gone"}`: "part", `{"part":"description","reason":""}`: "reason", ``: "body",
		`{"part":"description","reason":"` + strings.Repeat("x", 1001) + `"}`: "reason",
	} {
		c.call("POST", path, body).problem(422, "invalid-request", field)
	}
	c.call("POST", path, `{"part":"zip","reason":"gone"}`).problem(404, "unknown-part", "part")
	c.call("POST", "/v1/deletions/"+nobody+"/force", `{"part":"description","reason":"gone"}`).problem(404, "not-found", "")
	got := c.call("POST", path, `{"part":"description","reason":"gone"}`).want(200).json()
	if steps, _ := got["steps"].([]any); got["status"] != "deleted" || len(steps) != 1 || steps[0].(map[string]any)["forced"] != "gone" {
		t.Errorf("forced: %v", got)
	}
}

func TestAudit(t *testing.T) {
	c, s := serve(t)
	did := c.deleted("a/1")
	s.Finish(did)
	got := c.call("GET", "/v1/admin/audit?asset=a%2F1", "").want(200).json()
	items, _ := got["items"].([]any)
	if len(items) != 2 {
		t.Fatalf("trail: %v", got)
	}
	first, _ := items[0].(map[string]any)
	last, _ := items[1].(map[string]any)
	for _, name := range []string{"time", "generation"} {
		if first[name] == nil {
			t.Errorf("no %s in %v", name, first)
		}
	}
	if first["type"] != "tombstone.deletion.requested.v1" || first["deletion"] != did || first["asset"] != "a/1" || first["by"] != "anonymous" ||
		first["reason"] != "law" || last["type"] != "tombstone.deletion.completed.v1" {
		t.Errorf("trail: %v", items)
	}
	if got := c.call("GET", "/v1/admin/audit?asset=nobody", "").want(200).Body; got != "{\"items\":[]}\n" {
		t.Errorf("an asset that nobody knows: %s", got)
	}
	for _, target := range []string{"/v1/admin/audit?asset=", "/v1/admin/audit?asset=%00"} {
		c.call("GET", target, "").problem(422, "invalid-id", "asset")
	}
}

func TestAuditOfAllAssets(t *testing.T) {
	c, s := serve(t)
	const path = "/v1/admin/audit"
	if got := c.call("GET", path, "").want(200).Body; got != "{\"items\":[]}\n" {
		t.Errorf("nothing was recorded: %s", got)
	}
	for _, id := range []string{"a", "b"} {
		s.Finish(c.deleted(id))
	}
	var assets []any
	page := c.call("GET", path, "").want(200).json()
	for {
		for _, item := range page["items"].([]any) {
			assets = append(assets, item.(map[string]any)["asset"])
		}
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		page = c.call("GET", path+"?cursor="+next, "").want(200).json()
	}
	if diff := cmp.Diff([]any{"a", "a", "b", "b"}, assets); diff != "" {
		t.Error(diff)
	}
	if got := c.call("GET", path+"?since=2999-01-01T00:00:00Z", "").want(200).Body; got != "{\"items\":[]}\n" {
		t.Errorf("since another age: %s", got)
	}
	c.call("GET", path+"?since=yesterday", "").problem(422, "invalid-request", "since")
	c.call("GET", path+"?asset=a&since=2026-01-01T00:00:00Z", "").problem(422, "invalid-request", "since")
}

func TestUsage(t *testing.T) {
	s := apitest.New()
	c := caller{t, apitest.Handler(t, s, func(cfg *httpapi.Config) { cfg.Auth = callers })}
	c.as("alice", "PUT", "/v1/assets/a", `{"kind":"mesh","bytes":7}`).want(201)
	c.as("alice", "DELETE", "/v1/assets/a", "").want(202)
	const want = `{"assets":1,"bytes":7,"pending_release_bytes":7,"limit":{"assets":0,"bytes":0}}` + "\n"
	for _, who := range []string{"alice", "op"} {
		if got := c.as(who, "GET", "/v1/owners/acme/usage", "").want(200).Body; got != want {
			t.Errorf("%s: %s", who, got)
		}
	}
	c.as("bob", "GET", "/v1/owners/acme/usage", "").problem(404, "not-found", "")
	c.as("op", "GET", "/v1/owners/%00/usage", "").problem(422, "invalid-id", "owner")
}

func TestReceipt(t *testing.T) {
	c, s := serve(t)
	did := c.deleted("a")
	c.call("GET", "/v1/deletions/"+did+"/receipt", "").problem(409, "not-deleted", "")
	c.call("GET", "/v1/deletions/"+nobody+"/receipt", "").problem(404, "not-found", "")
	s.Finish(did)
	got := c.call("GET", "/v1/deletions/"+did+"/receipt", "").want(200)
	if media := got.Header.Get("Content-Type"); media != "application/jose" {
		t.Errorf("media type %q", media)
	}
	published := c.call("GET", "/.well-known/jwks.json", "").want(200)
	keys, err := receipt.ParseKeys([]byte(published.Body))
	if err != nil || published.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%v, %v", err, published.Header)
	}
	if r, err := receipt.Verify(got.Body, keys); err != nil || r.Deletion != did {
		t.Errorf("%+v, %v", r, err)
	}
}
