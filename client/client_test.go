package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// dial makes a client of an in-memory service behind the real HTTP API.
func dial(t *testing.T, opts ...client.Option) (*client.Client, *apitest.Service) {
	t.Helper()
	s := apitest.New()
	return connect(t, apitest.Serve(t, s), "", opts...), s
}

func connect(t *testing.T, url, token string, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(url, token, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var mesh = dependency.Put{Kind: apitest.Kind}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestIDsSurviveTheWay(t *testing.T) {
	c, _ := dial(t)
	ctx := t.Context()
	for _, id := range []string{".", "..", "...", "a/../b", "/", "a b", "a+b", "%2F", "%", "what?now#then", "🦕", "é", "a\\b", "*", "links"} {
		a, outcome, err := c.PutAsset(ctx, id, mesh)
		if err != nil || a.ID != id || outcome != dependency.Created {
			t.Fatalf("PUT of %q: %+v, %s, %v", id, a, outcome, err)
		}
		if got, err := c.Asset(ctx, id); err != nil || got.ID != id {
			t.Fatalf("GET of %q: %+v, %v", id, got, err)
		}
		if err := c.Link(ctx, id, apitest.LinkType, "."); err != nil {
			t.Fatalf("link of %q: %v", id, err)
		}
		if err := c.Unlink(ctx, id, apitest.LinkType, "."); err != nil {
			t.Fatalf("unlink of %q: %v", id, err)
		}
		if err := c.PutDocument(ctx, id, apitest.Part, map[string]any{"id": id}, ""); err != nil {
			t.Fatalf("document of %q: %v", id, err)
		}
		if got, err := c.GetDocument(ctx, id, apitest.Part); err != nil || got["id"] != id {
			t.Fatalf("document of %q: %v, %v", id, got, err)
		}
	}
}

func TestRelativeStepsAreEscapedOnTheWire(t *testing.T) {
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.RequestURI }))
	defer server.Close()
	c := connect(t, server.URL, "")
	for id, want := range map[string]string{".": "%2E", "..": "%2E%2E", "a/../b+c": "a%2F..%2Fb%2Bc"} {
		_, _ = c.Asset(t.Context(), id)
		if got := <-seen; got != "/v1/assets/"+want {
			t.Errorf("%q: sent as %s", id, got)
		}
	}
}

func TestAssets(t *testing.T) {
	c, _ := dial(t)
	ctx := t.Context()
	size, links := int64(7), []dependency.LinkTo{}
	put := dependency.Put{Kind: apitest.Kind, Owner: "acme", Attributes: map[string]any{"s": "<&>"}, Bytes: &size, Links: &links}
	created, _, err := c.PutAsset(ctx, "a", put)
	if err != nil || created.Owner != "acme" || created.Bytes != 7 || created.Attributes["s"] != "<&>" {
		t.Fatalf("created: %+v, %v", created, err)
	}
	if _, outcome, err := c.PutAsset(ctx, "a", mesh); err != nil || outcome != dependency.Changed {
		t.Fatalf("changed: %s, %v", outcome, err)
	}
	result, err := c.ImportAssets(ctx, strings.NewReader(`{"id":"b","kind":"mesh","links":[{"type":"DEPENDS_ON","to":"a"}]}`+"\n{oops\n"))
	if err != nil || result.Created != 1 || result.Failed != 1 || result.Errors[0].Line != 2 {
		t.Fatalf("import: %+v, %v", result, err)
	}
	page, err := c.Assets(ctx, dependency.AssetQuery{Kind: apitest.Kind, Status: dependency.Live, Limit: 1})
	if err != nil || len(page.Items) != 1 || page.NextCursor == "" {
		t.Fatalf("list: %+v, %v", page, err)
	}
	if page, err = c.Assets(ctx, dependency.AssetQuery{Cursor: page.NextCursor}); err != nil || len(page.Items) != 1 || page.Items[0].ID != "b" {
		t.Fatalf("next page: %+v, %v", page, err)
	}
	if page, err = c.Assets(ctx, dependency.AssetQuery{Owner: "nobody"}); err != nil || len(page.Items) != 0 {
		t.Fatalf("another owner: %+v, %v", page, err)
	}
	dependants, err := c.Dependants(ctx, "a", "")
	if err != nil || len(dependants.Items) != 1 || dependants.Items[0].ID != "b" {
		t.Fatalf("dependants: %+v, %v", dependants, err)
	}
}

func TestGrantsAndLeases(t *testing.T) {
	c, _ := dial(t)
	ctx := t.Context()
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "a/1", mesh)))
	size := int64(7)
	r := asset.ObjectRequest{Part: "payload", Name: "sub/x +.bin", TTL: 90 * time.Second}
	up := must[asset.Grant](t)(c.Upload(ctx, "a/1", r, &size))
	if up.Method != http.MethodPut || up.Key != "payload/sub/x +.bin" || up.Headers["Content-Length"] != "7" || up.ExpiresAt.Second() != 30 {
		t.Errorf("upload: %+v", up)
	}
	if down := must[asset.Grant](t)(c.Download(ctx, "a/1", asset.ObjectRequest{Part: "payload"})); down.Method != http.MethodGet || down.URL == "" {
		t.Errorf("download: %+v", down)
	}
	lease := must[asset.Lease](t)(c.Lease(ctx, "a/1", time.Minute))
	if lease.Token == "" || lease.ExpiresAt.Minute() != 1 {
		t.Errorf("lease: %+v", lease)
	}
	must[asset.Lease](t)(c.RenewLease(ctx, "a/1", lease.Token, 0, map[string]any{"state": "done"}))
	if a := must[dependency.Asset](t)(c.Asset(ctx, "a/1")); a.Attributes["state"] != "done" {
		t.Errorf("attributes: %v", a.Attributes)
	}
	if _, err := c.RenewLease(ctx, "a/1", "an/other?", time.Second, nil); !errors.Is(err, problem.LeaseLost) {
		t.Errorf("another token: %v, want lease-lost", err)
	}
}

func TestDeletions(t *testing.T) {
	c, s := dial(t)
	ctx := t.Context()
	generation := must[dependency.Asset](t)(first(c.PutAsset(ctx, "a", mesh))).Generation
	r := dependency.DeleteRequest{
		WithDependants: true, Reason: "no more & never again", IfMatch: generation, IfPlan: "hash", IdempotencyKey: "key",
		Wait: 1500 * time.Millisecond, TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
	d := must[dependency.Deletion](t)(c.Delete(ctx, "a", r))
	if d.Status != dependency.Deleted || d.Root != "a" || d.Reason != r.Reason {
		t.Fatalf("deletion: %+v", d)
	}
	r.Wait = 2 * time.Second // whole seconds travel
	if diff := cmp.Diff([]dependency.DeleteRequest{r}, s.Requests()); diff != "" {
		t.Error(diff)
	}
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "b", mesh)))
	running := must[dependency.Deletion](t)(c.Delete(ctx, "b", dependency.DeleteRequest{}))
	if got := must[dependency.Deletion](t)(c.Deletion(ctx, running.ID, "")); got.ID != running.ID || got.Status != dependency.Deleting {
		t.Errorf("deletion: %+v", got)
	}
	no := false
	page := must[dependency.Page[dependency.Deletion]](t)(c.Deletions(ctx, dependency.DeletionQuery{Status: dependency.Deleting, Stalled: &no, Limit: 10}))
	if len(page.Items) != 1 || page.Items[0].ID != running.ID {
		t.Errorf("deletions: %+v", page)
	}
	pending := must[dependency.Page[dependency.PendingFlag]](t)(c.Pending(ctx, ""))
	if len(pending.Items) != 1 || pending.Items[0].Deletion != running.ID {
		t.Errorf("pending: %+v", pending)
	}
	drives := []dependency.Drive{{All: true, OlderThan: 90 * time.Second}, {Deletions: []string{running.ID}}}
	for _, drive := range drives {
		must[dependency.Driven](t)(c.Replay(ctx, drive))
	}
	if diff := cmp.Diff(drives, s.Drives()); diff != "" {
		t.Error(diff)
	}
}

func TestPlan(t *testing.T) {
	c, s := dial(t)
	ctx := t.Context()
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "a/b", mesh)))
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "user", dependency.Put{Kind: apitest.Kind, Links: &[]dependency.LinkTo{{Type: apitest.LinkType, To: "a/b"}}})))
	for _, r := range []dependency.PlanRequest{{}, {WithDependants: true}} {
		want, err := s.Plan(dependency.WithCaller(ctx, dependency.Caller{Operator: true}), "a/b", r)
		got := must[dependency.Plan](t)(c.Plan(ctx, "a/b", r))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%+v (-want +got):\n%s%v", r, diff, err)
		}
	}
}

func first(a dependency.Asset, _ dependency.Outcome, err error) (dependency.Asset, error) {
	return a, err
}

func TestRefusalsComeBackByName(t *testing.T) {
	c, _ := dial(t)
	ctx := t.Context()
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "a", mesh)))
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "b", dependency.Put{Kind: apitest.Kind, Links: &[]dependency.LinkTo{{Type: apitest.LinkType, To: "a"}}})))
	_, err := c.Delete(ctx, "a", dependency.DeleteRequest{})
	p := problem.As(err)
	if !errors.Is(err, problem.HasDependants) || !reflect.DeepEqual(p.Members, map[string]any{"dependants": []any{"b"}, "dependants_total": 1.0}) {
		t.Errorf("got %v, %+v", err, p)
	}
	if _, err = c.Asset(ctx, "nobody"); !errors.Is(err, problem.NotFound) || problem.As(err).Detail == "" || problem.As(err).Members != nil {
		t.Errorf("unknown asset: %v", err)
	}
	if _, _, err = c.PutAsset(ctx, "x", dependency.Put{Kind: "nothing"}); !errors.Is(err, problem.UnknownKind) || problem.As(err).Field != "kind" {
		t.Errorf("unknown kind: %v", err)
	}
	if _, err = c.Plan(ctx, "nobody", dependency.PlanRequest{}); !errors.Is(err, problem.NotFound) {
		t.Errorf("plan: %v", err)
	}
}

func TestTokens(t *testing.T) {
	url := apitest.Serve(t, apitest.New(), func(cfg *httpapi.Config) { cfg.Auth = apitest.Callers{"good": {Subject: "a", Owner: "acme"}} })
	if _, err := connect(t, url, "bad").Assets(t.Context(), dependency.AssetQuery{}); !errors.Is(err, problem.Unauthenticated) {
		t.Errorf("bad token: %v", err)
	}
	if _, err := connect(t, url, "").ImportAssets(t.Context(), strings.NewReader("x")); !errors.Is(err, problem.Unauthenticated) {
		t.Errorf("no token: %v", err)
	}
	if _, err := connect(t, url, "good").Assets(t.Context(), dependency.AssetQuery{}); err != nil {
		t.Errorf("good token: %v", err)
	}
}

// H-79: only our own document of a 404 says that an asset is not there.
func TestAnswersThatAreNotTombstones(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"a plain 404": http.NotFound,
		"a page of a proxy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
		},
		"another service's page": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello")) },
		"a redirect":             func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
		"another service's JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"status":{"code":200}}`))
		},
		"empty JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{}`))
		},
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"another service's problem": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"type":"about:blank","title":"Not Found","status":404}`))
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			c := connect(t, server.URL, "")
			ctx := t.Context()
			calls := map[string]error{}
			_, calls["asset"] = c.Asset(ctx, "a")
			_, _, calls["put"] = c.PutAsset(ctx, "a", mesh)
			_, calls["list"] = c.Assets(ctx, dependency.AssetQuery{})
			_, calls["delete"] = c.Delete(ctx, "a", dependency.DeleteRequest{})
			calls["link"] = c.Link(ctx, "a", apitest.LinkType, "b")
			calls["health"] = c.Health(ctx)
			for call, err := range calls {
				if err == nil || problem.As(err) != nil || !strings.Contains(err.Error(), server.URL) || !strings.Contains(err.Error(), "not as Tombstone does") {
					t.Errorf("%s: expected an error that doubts the address, got %v", call, err)
				} else if strings.Contains(name, "page") && !strings.Contains(err.Error(), "text/html") {
					t.Errorf("%s: expected what came instead, got %v", call, err)
				}
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	t.Run("a service that hangs ends with the timeout", func(t *testing.T) {
		_, err := connect(t, url, "", client.WithTimeout(20*time.Millisecond)).Asset(t.Context(), "a")
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), url) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the caller's context ends the call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := connect(t, url, "").Asset(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	_ = l.Close()
	t.Run("a service that is not there is named by its address", func(t *testing.T) {
		_, err := connect(t, url, "").Asset(t.Context(), "a")
		if err == nil || !strings.Contains(err.Error(), l.Addr().String()) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	})
}

func TestReady(t *testing.T) {
	var graph error
	url := apitest.Serve(t, apitest.New(), func(cfg *httpapi.Config) {
		cfg.Checks = []httpapi.Check{{Name: "graph", Ping: func(context.Context) error { return graph }}}
	})
	c := connect(t, url, "")
	if err := c.Health(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := c.Ready(t.Context()); err != nil || !got.Ready || got.Stores["graph"] != "ok" {
		t.Errorf("got %+v, %v", got, err)
	}
	graph = errors.New("down")
	if got, err := c.Ready(t.Context()); err != nil || got.Ready || got.Stores["graph"] == "ok" || len(got.Stores) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestOnAnswerSeesTheBody(t *testing.T) {
	var answers []client.Answer
	c, _ := dial(t, client.OnAnswer(func(a client.Answer) { answers = append(answers, a) }))
	must[dependency.Asset](t)(first(c.PutAsset(t.Context(), "a", mesh)))
	_, _ = c.Asset(t.Context(), "b")
	if len(answers) != 2 || answers[0].Status != 201 || answers[1].Status != 404 || !strings.Contains(string(answers[1].Body), "/problems/not-found") {
		t.Errorf("got %v", answers)
	}
}

func TestBadAddresses(t *testing.T) {
	for _, url := range []string{"", "localhost:8080", "ftp://x", "http://", "http://x?y=z", "http://x#y", "http://x y"} {
		if _, err := client.New(url, ""); err == nil {
			t.Errorf("%q was taken", url)
		}
	}
	c := connect(t, apitest.Serve(t, apitest.New())+"/", "")
	if err := c.Health(t.Context()); err != nil {
		t.Error(err)
	}
}
