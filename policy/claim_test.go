package policy

import (
	"errors"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
)

const files = `
kinds:
  file:
    parts:
      note: {document: {collection: notes}}
      content:
        blobs: {bucket: files, key: "{attributes.key|path}"}
        former: [{blobs: {bucket: old, key: "{attributes.key|path}"}}]
      preview: {blobs: {bucket: files, key: "{attributes.preview|path}"}}
      layer: {blobs: {bucket: layers, prefix: "{id}/{attributes.layer}/"}}
  row:
    parts:
      row: {document: {collection: "a/b", key: "{attributes.row}"}}
      extra: {blobs: {bucket: files, key: "{attributes.key|path}"}}
  mesh:
    parts:
      payload: {blobs: {bucket: assets, prefix: "{id}/{generation}/"}}
`

// file is an asset of the policy files.
func file(id, key, preview string) Subject {
	s := subject(id)
	s.Attributes = map[string]any{"key": key, "preview": preview, "layer": "top", "row": "r/1"}
	return s
}

func TestClaimsAreThePlacesMadeOfAttributes(t *testing.T) {
	p := mustParse(t, files)
	for kind, want := range map[string][]string{
		"file": {"objects/files/docs/a.pdf", "objects/files/docs/a.png", "objects/old/docs/a.pdf"},
		"row":  {"documents/a%2Fb/r/1", "objects/files/docs/a.pdf"},
		"mesh": nil,
	} {
		got, err := p.Kinds[kind].Claims(file("7", "docs/a.pdf", "docs/a.png"))
		if err != nil {
			t.Fatal(err)
		}
		same(t, kind, want, got)
	}
}

func TestClaimsNeedNoGeneration(t *testing.T) {
	s := file("7", "docs/a.pdf", "docs/a.png")
	s.Generation = ""
	got, err := mustParse(t, files).Kinds["row"].Claims(s)
	if err != nil || len(got) != 2 {
		t.Errorf("want two claims, got %q, %v", got, err)
	}
}

func TestTwoKindsClaimOnePlaceByOneName(t *testing.T) {
	p := mustParse(t, files)
	a, err := p.Kinds["file"].Claims(file("7", "docs/x", "docs/a.pdf"))
	b, err2 := p.Kinds["row"].Claims(file("8", "docs/a.pdf", ""))
	if err != nil || err2 != nil || a[0] != "objects/files/docs/a.pdf" || b[1] != a[0] {
		t.Errorf("want both to claim docs/a.pdf, got %q and %q (%v, %v)", a, b, err, err2)
	}
}

func TestCheckWorksOutEveryPlace(t *testing.T) {
	k := mustParse(t, files).Kinds["file"]
	if err := k.Check(file("7", "docs/a.pdf", "docs/a.png")); err != nil {
		t.Errorf("want it accepted, got %v", err)
	}
	missing := file("7", "docs/a.pdf", "docs/a.png")
	delete(missing.Attributes, "layer")
	for what, s := range map[string]Subject{"a bad path": file("7", "docs/../a", "b"), "a missing attribute": missing} {
		if err := k.Check(s); !errors.Is(err, problem.InvalidAttribute) {
			t.Errorf("%s: want invalid-attribute, got %v", what, err)
		}
	}
}

func TestCheckRefusesOnePlaceForTwoParts(t *testing.T) {
	err := mustParse(t, files).Kinds["file"].Check(file("7", "docs/a.pdf", "docs/a.pdf"))
	want := `invalid-attribute: parts "content" and "preview" would have the same place; give their attributes different values`
	if err == nil || err.Error() != want {
		t.Errorf("want %s, got %v", want, err)
	}
}

func TestExclusive(t *testing.T) {
	p := mustParse(t, files)
	for name, want := range map[string]bool{"note": false, "content": true, "preview": true, "layer": false} {
		if part, ok := p.Kinds["file"].Part(name); !ok || part.Exclusive() != want {
			t.Errorf("%s: want exclusive %t", name, want)
		}
	}
	versioned := onePart(t, `{blobs: {bucket: one, key: "{attributes.key}/{generation}"}}`)
	if versioned.Exclusive() {
		t.Error("a part with the generation in its place is of one asset anyway: want not exclusive")
	}
	moved := onePart(t, `{blobs: {bucket: one, prefix: "{id}/"}, former: [{blobs: {bucket: two, key: "{attributes.key}"}}]}`)
	if !moved.Exclusive() {
		t.Error("a part with a former place made of attributes: want exclusive")
	}
}

func TestFixedAttributes(t *testing.T) {
	p := mustParse(t, files)
	for kind, want := range map[string][]string{"file": {"key", "layer", "preview"}, "row": {"key", "row"}, "mesh": nil} {
		k := p.Kinds[kind]
		same(t, kind, want, k.FixedAttributes())
		if k.UsesAttributes() != (want != nil) {
			t.Errorf("%s: UsesAttributes says %t", kind, k.UsesAttributes())
		}
	}
}
