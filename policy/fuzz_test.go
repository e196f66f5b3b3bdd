package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
)

// Any text is either a policy with a hash, or refused with faults that have a place in it and say something.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		whole(f), adopted, files, "", "kinds: {}", "kinds: {a: {parts: {x: {blobs: {bucket: one, key: '{id}'}}}}}", "a: &x [*x]\n---\n<<: {a: 1}\n",
		"kinds:\n  a:\n    grace: >\n      1h\n", "? {a: b}\n: c", "%YAML 1.2\n---\n- !!set {a, b}\n...\n", "kinds: {a: {grace: !!int 1}}", "\"a\\u0000\": |-\n  b",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("p", text)
		if err == nil {
			again, err := Parse("p", text)
			if err != nil || again.Hash != p.Hash || len(p.Hash) != 64 {
				t.Fatalf("the same text again: %v, %q and %q", err, p.Hash, again.Hash)
			}
			return
		}
		var faults Faults
		if !errors.As(err, &faults) || len(faults) == 0 {
			t.Fatalf("want faults, got %v", err)
		}
		for _, fault := range faults {
			if fault.File != "p" || fault.Line < 1 || fault.Column < 1 || fault.Message == "" {
				t.Fatalf("fault without a place: %+v", fault)
			}
		}
	})
}

// Whatever template is accepted, a value either makes a place that every store takes, or is refused by name; and
// another id makes another place.
func FuzzLocation(f *testing.F) {
	f.Add("payload/{hash:2}/{owner}/{id}/{generation}/", "1", "2", "acme", generation, "a/b")
	f.Add("thumbs/{id}.png", "..", "../x", "acme", generation, "")
	f.Add("{attributes.key|path}", "%2F", "/", "o", "g", "docs/a.pdf")
	f.Add("x{id}y/{attributes.key}", "a", "ay/b", "o", "g", ".")
	f.Fuzz(func(t *testing.T, text, id, other, owner, generation, key string) {
		part := fuzzedPart(text)
		if part == nil || id == other {
			return
		}
		if !strings.Contains(text, "{id}") && strings.Contains(text, "{generation}") {
			return // two assets never have the same generation, as the two below would
		}
		s := Subject{ID: id, Owner: owner, Kind: "k", Generation: generation, Attributes: map[string]any{"key": key}}
		l, err := part.Location(s)
		if err != nil {
			if problem.As(err) == nil || l != (Location{}) {
				t.Fatalf("want a refusal and no place, got %+v, %v", l, err)
			}
			return
		}
		for segment := range strings.SplitSeq(strings.TrimSuffix(l.text(), "/"), "/") {
			if segment == "" || segment == "." || segment == ".." || len(segment) > maxSegment {
				t.Fatalf("%q became %q", text, l.text())
			}
		}
		s.ID = other
		if second, err := part.Location(s); err == nil && !part.Exclusive() && l.meet(second) {
			t.Fatalf("%q: %+v and %+v meet", text, l, second)
		}
	})
}

// fuzzedPart makes a part with the template as its prefix or key; nil when a policy may not have it.
func fuzzedPart(text string) *Part {
	p, err := Parse("p", fmt.Appendf(nil, "kinds: {k: {parts: {a: {blobs: {bucket: one, %s: '%s'}}}}}", fuzzedField(text), strings.ReplaceAll(text, "'", "''")))
	if err != nil || len(p.Kinds["k"].Parts) != 1 {
		return nil
	}
	return p.Kinds["k"].Parts[0]
}
