package system

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/auth/oidctest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// own are the calls that tell or change only what is the caller's own, whatever they are asked: they name no single thing. All
// others that are not for operators name one, and are tried at another owner's.
var own = map[string]bool{
	"GET /v1/assets": true, "POST /v1/assets": true, "GET /v1/deletions": true, "POST /v1/deletions": true, "GET /v1/overview": true,
	"GET /v1/deletions/events": true,
}

// create is the call that makes an asset; 403 there is for naming another owner.
const create = "PUT /v1/assets/{id}"

// bodies are what calls need that look at their body first.
var bodies = map[string]string{
	create:                                 `{"kind":"mesh"}`,
	"PUT /v1/assets/{id}/documents/{part}": `{"text":"mine"}`,
	"POST /v1/assets/{id}/uploads":         `{"part":"payload","name":"x"}`,
	"POST /v1/assets/{id}/downloads":       `{"part":"payload","name":"one.bin"}`,
	"POST /v1/assets/{id}/leases":          `{"ttl":"1m"}`,
	"PUT /v1/assets/{id}/leases/{token}":   `{"ttl":"1m"}`,
	"POST /v1/deletions/{did}/force":       `{"part":"payload","reason":"x"}`,
}

// Every call that names another owner's thing answers as if there were none, in whatever state it is; calls of operators
// are 403 for everybody else; and nothing of it changes anything. Callers come with tokens of an issuer.
func TestAnothersThingsAreNotThereInAnyCall(t *testing.T) {
	s := Embedded(t)
	issuer := oidctest.New(t)
	s.Settings = map[string]string{"TOMBSTONE_AUTH": "oidc:" + issuer.URL(), "TOMBSTONE_AUTH_AUDIENCE": "tombstone"}
	sys := Start(t, s, app.All)
	as := func(claims map[string]any) *client.Client {
		c, err := client.New(sys.URL, issuer.Token(claims))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	sys.Client = as(nil) // of acme
	live, gone := sys.Fill(sys.Create("mesh", "live/1")), sys.Create("mesh", "gone")
	done := sys.Finish(gone.ID)
	scheduled := sys.Create("slow", "scheduled")
	waits, err := sys.Delete(t.Context(), scheduled.ID, dependency.DeleteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	before := s.Snapshot(t)
	foreign := issuer.Token(map[string]any{"sub": "mallory", "owner": "evil"})
	calls := callsOf(t, sys.URL)
	tried := 0
	for _, call := range calls {
		for _, id := range []string{live.ID, gone.ID, scheduled.ID, "unknown"} {
			for _, did := range []string{done.ID, waits.ID} {
				if own[call.name] || !strings.HasPrefix(call.path, "/v1/") || call.name == create && id == "unknown" {
					continue
				}
				want := http.StatusNotFound
				if call.operators {
					want = http.StatusForbidden
				}
				tried++
				if got, body := call.send(t, sys.URL, foreign, id, did); got != want {
					t.Errorf("%s with %q, %s: %d, want %d: %s", call.name, id, did, got, want, body)
				}
			}
		}
		if got, body := call.send(t, sys.URL, "", live.ID, done.ID); strings.HasPrefix(call.path, "/v1/") && got != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d: %s", call.name, got, body)
		}
	}
	if len(calls) < 40 || tried < 200 {
		t.Errorf("only %d calls, tried %d times", len(calls), tried)
	}
	unchanged(t, s, before.With("live"), "after all calls")
	stranger := as(map[string]any{"sub": "mallory", "owner": "evil"})
	if list, err := stranger.Assets(t.Context(), dependency.AssetQuery{}); err != nil || len(list.Items) != 0 {
		t.Errorf("the other owner's list: %+v, %v", list.Items, err)
	}
	_, _, err = stranger.PutAsset(t.Context(), "mine", dependency.Put{Kind: "bare", Links: &[]dependency.LinkTo{{Type: "DEPENDS_ON", To: live.ID}}})
	Refused(t, err, problem.LinkTargetNotFound)
	if a, err := as(map[string]any{"owner": nil, "roles": []string{"operator"}}).Asset(t.Context(), live.ID); err != nil || a.Status != dependency.Live {
		t.Errorf("an operator sees %s, %v", a.Status, err)
	}
	expired, err := client.New(sys.URL, issuer.Token(map[string]any{"exp": 1}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := expired.Asset(t.Context(), live.ID); !errors.Is(err, problem.Unauthenticated) {
		t.Errorf("an expired token: %v", err)
	}
}

// call is one operation of the API.
type call struct {
	name, method, path string
	operators          bool
}

// callsOf reads the operations from the API's own description.
func callsOf(t *testing.T, base string) (calls []call) {
	t.Helper()
	resp, err := http.Get(base + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]any `json:"responses"`
		} `json:"paths"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			_, forbidden := op.Responses["403"]
			name := strings.ToUpper(method) + " " + path
			calls = append(calls, call{name: name, method: strings.ToUpper(method), path: path, operators: forbidden && !own[name] && name != create})
		}
	}
	return calls
}

// send makes the call with an asset's id and a deletion's.
func (c call) send(t *testing.T, base, token, id, did string) (status int, body string) {
	t.Helper()
	path := strings.NewReplacer("{id}", url.PathEscape(id), "{did}", did, "{batch}", did, "{part}", "description", "{type}", "DEPENDS_ON",
		"{to}", "other", "{owner}", "acme", "{token}", "a-token").Replace(c.path)
	r, err := http.NewRequestWithContext(t.Context(), c.method, base+path, bytes.NewReader([]byte(bodies[c.name])))
	if err != nil {
		t.Fatal(err)
	}
	if bodies[c.name] != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 300))
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
