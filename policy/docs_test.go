package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// blocks gives the YAML blocks of the page about the policy.
func blocks(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		out = append(out, text)
	}
	return out
}

func TestThePageShowsPoliciesThatAreFine(t *testing.T) {
	for _, text := range blocks(t) {
		refusal, isRefused := strings.CutPrefix(text, "# refused: ")
		if !isRefused {
			mustParse(t, text)
			continue
		}
		message, _, _ := strings.Cut(refusal, "\n")
		if _, err := Parse("p", []byte(text)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s\nwant %q, got %v", text, message, err)
		}
	}
}

func TestThePageTellsTheDefaults(t *testing.T) {
	const bare = `kinds: {item: {parts: {note: {document: {collection: notes}}, file: {blobs: {bucket: files, prefix: "{id}/{generation}/"}, retention: {after: 0}}}}}`
	want := mustParse(t, bare)
	found := false
	for _, text := range blocks(t) {
		if strings.HasPrefix(text, "# defaults\n") {
			found = true
			same(t, "policy", want, mustParse(t, text))
		}
	}
	if !found {
		t.Error("the page has no block of defaults")
	}
}

// A field that the reader knows and the page does not tell is a field that nobody finds.
func TestThePageNamesEveryField(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{
		"{@: 0}", "graph: {@: 0}", "links: {L: {@: 0}}", "limits: {@: 0}", "quotas: {@: 0}", "quotas: {default: {@: 0}}", "grants: {@: 0}",
		"tombstones: {@: 0}", "events: {@: 0}", "retention: {@: 0}", "sweep: {@: 0}", "canary: {@: 0}", "kinds: {k: {@: 0}}",
		"kinds: {k: {parts: {a: {@: 0}}}}", "kinds: {k: {parts: {a: {document: {@: 0}}}}}", "kinds: {k: {parts: {a: {blobs: {@: 0}}}}}",
		"kinds: {k: {retention: {@: 0}}}",
	} {
		_, err := Parse("p", []byte(strings.Replace(section, "@", "no_such_field_at_all", 1)))
		if err == nil {
			t.Fatalf("%s is no policy", section)
		}
		_, known, ok := strings.Cut(err.Error(), "known are ")
		known, _, _ = strings.Cut(known, "\n")
		if !ok {
			t.Fatalf("%s: want the known fields, got %v", section, err)
		}
		for _, name := range strings.Split(known, ", ") {
			if !strings.Contains(string(page), name) {
				t.Errorf("the page does not name %s, a field of %s", name, section)
			}
		}
	}
}
