package httpapi_test

import (
	"strings"
	"testing"
)

func TestEveryLegalIDIsOneSegment(t *testing.T) {
	ids := []string{
		"1/2", "1/", "/1", "//", "a/../b", ".", "..", "...", "../../etc", "a b", " lead", "trail ", "a+b", "a%2Fb", "%", "%25", "50%", "what?now=1",
		"tag#frag", `quo"te`, "back\\slash", "<b>&amp;", "*", "{id}", "a:b@c;d,e=f", "|pipe", "🦕 mesh", "日本語", "é", "\u200djoiner",
		strings.Repeat("x", 256), "links/DEPENDS_ON/x", "dependants",
	}
	c, _ := serve(t)
	for _, id := range ids {
		if got := c.call("PUT", "/v1/assets/"+esc(id), mesh).want(201).json()["id"]; got != id {
			t.Errorf("PUT of %q made %q", id, got)
		}
	}
	for _, id := range ids {
		if got := c.call("GET", "/v1/assets/"+esc(id), "").want(200).json()["id"]; got != id {
			t.Errorf("GET of %q gave %q", id, got)
		}
		c.call("PUT", "/v1/assets/"+esc("1/2")+"/links/DEPENDS_ON/"+esc(id), "").want(204)
	}
	dependants := c.call("GET", "/v1/assets/"+esc("a%2Fb")+"/dependants", "").want(200)
	if !strings.Contains(dependants.Body, `"id":"1/2"`) {
		t.Errorf("dependants of a%%2Fb: %s", dependants.Body)
	}
}

func TestIDsAreNotCleanedOrUnescapedTwice(t *testing.T) {
	for target, id := range map[string]string{
		"/v1/assets/%2e%2E":     "..",
		"/v1/assets/..":         "..",
		"/v1/assets/.":          ".",
		"/v1/assets/%252F":      "%2F",
		"/v1/assets/a+b":        "a+b",
		"/v1/assets/\u00e9%2Fx": "\u00e9/x", // a client that escapes the slash alone
	} {
		c, _ := serve(t)
		if got := c.call("PUT", target, mesh).want(201).json()["id"]; got != id {
			t.Errorf("%s: expected %q, got %q", target, id, got)
		}
	}
}

// H-22.
func TestIllegalIDsAreRefusedByName(t *testing.T) {
	c, s := serve(t)
	for _, id := range []string{strings.Repeat("x", 257), strings.Repeat("ü", 129), "tab\tbed", "nul\x00", "\u0085next", "bad\xff", "cafe\u0301"} {
		c.call("PUT", "/v1/assets/"+esc(id), mesh).problem(422, "invalid-id", "id")
		c.call("DELETE", "/v1/assets/"+esc(id), "").problem(422, "invalid-id", "id")
		c.call("POST", "/v1/assets/"+esc(id)+"/plan", `{}`).problem(422, "invalid-id", "id")
		c.call("PUT", "/v1/assets/a/links/DEPENDS_ON/"+esc(id), "").problem(422, "invalid-id", "to")
		c.call("PUT", "/v1/assets/"+esc(id)+"/documents/description", `{}`).problem(422, "invalid-id", "id")
	}
	c.call("PUT", "/v1/assets//links/DEPENDS_ON/x", "").problem(422, "invalid-id", "id")
	c.call("DELETE", "/v1/assets/", "").problem(404, "not-found", "")
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d deletions reached the service", n)
	}
}
