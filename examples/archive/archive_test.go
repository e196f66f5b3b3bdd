package archive

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/tombstone-project/tombstone/policy"
)

func TestTheArchiveFitsItsPolicy(t *testing.T) {
	text, err := os.ReadFile("policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse("policy.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("archive.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range bytes.Lines(data) {
		var a struct {
			ID, Kind string
			Links    []struct{ Type, To string }
		}
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, ok := p.Kind(a.Kind); !ok {
			t.Errorf("%s: kind %q is not in the policy", a.ID, a.Kind)
		}
		for _, l := range a.Links {
			if _, ok := p.Links[l.Type]; !ok || !known[l.To] {
				t.Errorf("%s: the link %s to %q has no type or no target", a.ID, l.Type, l.To)
			}
		}
		known[a.ID] = true
	}
}
