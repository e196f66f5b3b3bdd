package policy

import (
	"fmt"
	"strings"
	"testing"
)

// A place that an asset has is read back as that asset's, where it can be read back at all; and whoever a key is said to belong
// to has it at a place of its own.
func FuzzResident(f *testing.F) {
	f.Add("payload/{hash:2}/{owner}/{id}/{generation}/", "1", "acme", "payload/6b/acme/1/"+generation+"/x")
	f.Add("thumbs/{id}.png", "..", "acme", "thumbs/%2E%2E.png")
	f.Add("x{id}y/{kind}/", "ay", "o", "xay/k/z")
	f.Add("{owner}-{id}", "a-b", "o-p", "o-p-a-b")
	f.Fuzz(func(t *testing.T, text, id, owner, key string) {
		if fuzzedPart(text) == nil || ValidateID(id) != nil || ValidateID(owner) != nil {
			return
		}
		p, err := Parse("p", fmt.Appendf(nil, "kinds: {k: {parts: {a: {blobs: {bucket: one, %s: '%s'}}}}}", fuzzedField(text), strings.ReplaceAll(text, "'", "''")))
		if err != nil {
			t.Fatal(err)
		}
		part := p.Kinds["k"].Parts[0]
		if l, err := part.Location(Subject{ID: id, Owner: owner, Kind: "k", Generation: generation}); err == nil {
			at := l.text()
			if strings.HasSuffix(at, "/") {
				at += "object"
			}
			if r, ok := p.Resident("one", at); ok && (r.ID != id || r.Owner != "" && r.Owner != owner || r.Generation != "" && r.Generation != generation) {
				t.Fatalf("%q of %q, %q is read back as %+v", at, id, owner, r)
			}
		}
		r, ok := p.Resident("one", key)
		if !ok {
			return
		}
		owns := Subject{ID: r.ID, Owner: r.Owner, Kind: r.Kind, Generation: r.Generation}
		if l, err := part.Location(owns); err != nil || l.text() != r.Place || !strings.HasPrefix(key, r.Place) {
			t.Fatalf("%q is said to be of %+v, whose place is %q, %v", key, r, l.text(), err)
		}
	})
}

// fuzzedField is the field that takes a template.
func fuzzedField(text string) string {
	if strings.HasSuffix(text, "/") {
		return "prefix"
	}
	return "key"
}
