package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
)

// tenants serves the real service on a graph, for red, blue, and an operator.
func tenants(t *testing.T) caller {
	t.Helper()
	s, _ := apitest.Real(t, "links: {DEPENDS_ON: {on_target_delete: restrict}}\nkinds: {mesh: {grace: 1h, parts: {description: {document: {collection: d}}}}}")
	return caller{t, apitest.Handler(t, apitest.New(), func(cfg *httpapi.Config) {
		cfg.Dependency = s
		cfg.Auth = apitest.Callers{"red": {Subject: "r", Owner: "red"}, "blue": {Subject: "b", Owner: "blue"}, "op": {Subject: "o", Owner: "ops", Operator: true}}
	})}
}

// H-75: to a tenant, what is another's answers as what does not exist: status, body but for the id, and headers; without a
// token both are 401. Nothing of the other changes.
func TestWhatIsAnothersAnswersAsWhatDoesNotExist(t *testing.T) {
	c := tenants(t)
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	for _, id := range []string{"b-1", "b-2"} {
		c.call("PUT", "/v1/assets/"+id, mesh, as("blue")...).want(201)
	}
	c.call("PUT", "/v1/assets/r-1", mesh, as("red")...).want(201)
	did, _ := c.call("DELETE", "/v1/assets/b-2", "", as("blue")...).want(202).json()["id"].(string)
	batch, _ := c.call("POST", "/v1/deletions", `{"ids":["b-2"],"reason":"r"}`, as("blue")...).want(202).json()["batch"].(string)
	all := func() string {
		return c.call("GET", "/v1/assets", "", as("op")...).want(200).Body + c.call("GET", "/v1/deletions", "", as("op")...).want(200).Body
	}
	const asset, deletion, owner = "b-1", "a deletion", "blue"
	real := map[string]string{asset: "b-1", deletion: did, "a batch": batch, owner: "blue"}
	none := map[string]string{asset: "b-0", deletion: "01890000-0000-7000-8000-000000000000", "a batch": "01890000-0000-7000-8000-000000000001", owner: "grey"}
	before := all()
	for _, q := range []struct{ method, path, of, body string }{
		{"GET", "/v1/assets/%", asset, ""}, {"HEAD", "/v1/assets/%", asset, ""}, {"DELETE", "/v1/assets/%", asset, ""}, {"GET", "/v1/assets/%/dependants", asset, ""},
		{"POST", "/v1/assets/%/plan", asset, "{}"}, {"DELETE", "/v1/assets/%/parts/description", asset, ""}, {"PUT", "/v1/assets/%/links/DEPENDS_ON/r-1", asset, ""},
		{"DELETE", "/v1/assets/%/links/DEPENDS_ON/r-1", asset, ""}, {"PUT", "/v1/assets/r-1/links/DEPENDS_ON/%", asset, ""}, {"DELETE", "/v1/assets/r-1/links/DEPENDS_ON/%", asset, ""},
		{"GET", "/v1/deletions/%", deletion, ""}, {"HEAD", "/v1/deletions/%", deletion, ""}, {"GET", "/v1/deletions/%/explain", deletion, ""}, {"GET", "/v1/deletions/%/receipt", deletion, ""},
		{"GET", "/v1/deletions/%/events", deletion, ""}, {"POST", "/v1/deletions/%/cancel", deletion, ""}, {"GET", "/v1/batches/%", "a batch", ""}, {"GET", "/v1/owners/%/usage", owner, ""},
		{"GET", "/asset?id=%", asset, ""}, {"GET", "/deletion?id=%", deletion, ""}, {"GET", "/receipt?id=%", deletion, ""}, {"GET", "/usage?owner=%", owner, ""},
	} {
		for token, want := range map[string]int{"red": http.StatusNotFound, "nobody": http.StatusUnauthorized} {
			ask := func(id string) answer {
				a := c.call(q.method, strings.Replace(q.path, "%", id, 1), q.body, as(token)...).want(want)
				a.Body = strings.ReplaceAll(a.Body, id, "ID")
				a.Header.Del("Set-Cookie") // the page's, for the forms of each browser
				return a
			}
			theirs, nothing := ask(real[q.of]), ask(none[q.of])
			if diff := cmp.Diff(nothing.Header, theirs.Header) + cmp.Diff(scrub(nothing.Body), scrub(theirs.Body)); diff != "" {
				t.Errorf("%s as %s: (-unknown +another's)\n%s", theirs.call, token, diff)
			}
		}
	}
	for _, q := range [][2]string{{"/v1/admin/pending/replay", `{"all":true}`}, {"/v1/admin/stalled/retry", `{"deletions":["` + did + `"]}`}, {"/v1/deletions/" + did + "/force", `{"part":"description","reason":"x"}`}} {
		c.call("POST", q[0], q[1], as("red")...).problem(403, "forbidden", "")
	}
	if diff := cmp.Diff(before, all()); diff != "" {
		t.Errorf("something of the other has changed:\n%s", diff)
	}
}

// scrub takes the secret of forms out of a page.
func scrub(page string) string {
	before, rest, found := strings.Cut(page, `name="form_token" value="`)
	if !found {
		return page
	}
	_, after, _ := strings.Cut(rest, `"`)
	return before + scrub(after)
}
