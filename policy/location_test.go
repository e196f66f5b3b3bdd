package policy

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
)

const generation = "01890a5d-ac96-774b-bcce-b302099a8057"

// part parses a policy with one part and gives it.
func onePart(t testing.TB, place string) *Part {
	t.Helper()
	p := mustParse(t, "kinds: {mesh: {parts: {a: "+place+"}}}")
	return p.Kinds["mesh"].Parts[0]
}

// subject is an asset of kind mesh.
func subject(id string) Subject {
	return Subject{ID: id, Owner: "acme", Kind: "mesh", Generation: generation}
}

func TestLocationPutsInEveryVariable(t *testing.T) {
	part := onePart(t, `{blobs: {bucket: assets, governance_bypass: true,
		prefix: "p-{kind}/{hash:3}/{owner}/x{id}.d/{generation}/{attributes.layer}/{attributes.folder|path}/"}}`)
	s := subject("a/b 50%")
	s.Attributes = map[string]any{"layer": "top/1", "folder": "one/two 50%"}
	got, err := part.Location(s)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "location", Location{
		Bucket: "assets",
		Prefix: "p-mesh/fd4/acme/xa%2Fb 50%25.d/" + generation + "/top%2F1/one/two 50%/",
		Fenced: true, GovernanceBypass: true,
	}, got)
}

func TestLocationEncodesTheNameOfTheKind(t *testing.T) {
	p := mustParse(t, `kinds: {"50% {x}": {parts: {a: {blobs: {bucket: assets, key: "{kind}/{id}"}}}}}`)
	got, err := p.Kinds["50% {x}"].Parts[0].Location(subject("1"))
	if err != nil || got.Key != "50%25 {x}/1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestADocumentIsFoundByTheIDAsItIs(t *testing.T) {
	part := onePart(t, "{document: {collection: notes}}")
	for _, id := range []string{"1/2", "50%", "..", strings.Repeat("x", 256)} {
		got, err := part.Location(subject(id))
		if err != nil {
			t.Fatal(err)
		}
		same(t, id, Location{Collection: "notes", DocumentKey: id, IDField: "_id", IDType: IDString}, got)
	}
}

func TestADocumentWithTheGenerationInItsKeyIsFenced(t *testing.T) {
	got, err := onePart(t, `{document: {collection: notes, key: "{id}/{generation}"}}`).Location(subject("1/2"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "location", Location{Collection: "notes", DocumentKey: "1%2F2/" + generation, IDField: "_id", IDType: IDString, Fenced: true}, got)
}

func TestLocationsGivesThePresentPlaceFirst(t *testing.T) {
	part := onePart(t, `{blobs: {bucket: new, prefix: "{id}/{generation}/"}, former: [{blobs: {bucket: old, prefix: "{id}/"}}, {document: {collection: bodies, id: name}}]}`)
	got, err := part.Locations(subject("7"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "locations", []Location{
		{Bucket: "new", Prefix: "7/" + generation + "/", Fenced: true},
		{Bucket: "old", Prefix: "7/"},
		{Collection: "bodies", DocumentKey: "7", IDField: "name", IDType: IDString},
	}, got)
}

func TestFenced(t *testing.T) {
	for place, want := range map[string]bool{
		`{blobs: {bucket: one, prefix: "{id}/{generation}/"}}`:                                true,
		`{blobs: {bucket: one, prefix: "{generation}.d/{id}/"}}`:                              true,
		`{blobs: {bucket: one, key: "{id}/{generation}.png"}}`:                                true,
		`{blobs: {bucket: one, key: "thumbs/{id}.png"}}`:                                      false,
		`{document: {collection: notes, key: "{generation}/{id}"}}`:                           true,
		`{document: {collection: notes, key: "{generation}"}}`:                                true,
		`{document: {collection: notes, key: "{id}"}}`:                                        false,
		`{document: {collection: notes, key: "{generation}/{attributes.key|path}"}}`:          true,
		`{blobs: {bucket: one, prefix: "{id}/{hash:2}{generation}/{attributes.name|path}/"}}`: true,
	} {
		s := subject("7")
		s.Attributes = map[string]any{"layer": "x", "folder": "x", "key": "x", "name": "x"}
		got, err := onePart(t, place).Location(s)
		if err != nil || got.Fenced != want {
			t.Errorf("%s: want fenced %t, got %+v, %v", place, want, got, err)
		}
	}
}

func TestLocationTooLong(t *testing.T) {
	const prefix, key = `{blobs: {bucket: one, prefix: "{id}/"}}`, `{blobs: {bucket: one, key: "thumbs/{id}.png"}}`
	const long, deep = `{blobs: {bucket: one, key: "{id}/{attributes.key|path}"}}`, `{blobs: {bucket: one, prefix: "{id}/{attributes.key|path}/"}}`
	const document = `{document: {collection: notes, key: "{id}/{attributes.key|path}"}}`
	path := func(n int) string { return strings.Repeat("a/", n/2) + strings.Repeat("b", n%2+1) } // n+1 bytes
	for _, c := range []struct {
		name, place, id, key string
		fits                 bool
	}{
		{"a segment that just fits", prefix, strings.Repeat("x", 255), "", true},
		{"a segment of 256 bytes", prefix, strings.Repeat("x", 256), "", false},
		{"a segment with its suffix that just fits", key, strings.Repeat("x", 251), "", true},
		{"a segment with its suffix", key, strings.Repeat("x", 252), "", false},
		{"a segment once it is encoded", prefix, strings.Repeat("%", 86), "", false},
		{"an encoded segment that just fits", prefix, strings.Repeat("/", 85), "", true},
		{"bytes count, not characters", key, strings.Repeat("ü", 126), "", false},
		{"a key that just fits", long, "1", path(1021), true},
		{"a key of 1025 bytes", long, "1", path(1022), false},
		{"a prefix that leaves room for names", deep, "1", path(892), true},
		{"a prefix that leaves too little", deep, "1", path(893), false},
		{"a document's key that just fits, whatever its segments", document, "1", strings.Repeat("x", 1022), true},
		{"a document's key of 1025 bytes", document, "1", strings.Repeat("x", 1023), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := subject(c.id)
			s.Attributes = map[string]any{"key": c.key}
			got, err := onePart(t, c.place).Location(s)
			if c.fits && err != nil {
				t.Errorf("want it to fit, got %v", err)
			}
			if !c.fits && (!errors.Is(err, problem.LocationTooLong) || got != Location{}) {
				t.Errorf("want location-too-long and nothing else, got %+v, %v", got, err)
			}
		})
	}
}

func TestAttributesThatPlacesAreMadeOf(t *testing.T) {
	const name, path = "{attributes.key}", "{attributes.key|path}"
	for _, c := range []struct {
		template string
		value    any
		want     string // empty: refused
	}{
		{name, "a.pdf", "a.pdf"}, {name, "a/b", "a%2Fb"}, {name, "..", "%2E%2E"}, {name, "tab\t", "tab%09"}, {name, "\u0085", "%C2%85"},
		{name, 7, "7"}, {name, int64(-7), "-7"}, {name, float64(1000000), "1000000"}, {name, json.Number("12"), "12"},
		{name, nil, ""}, {name, "", ""}, {name, 1.5, ""}, {name, 1e300, ""}, {name, json.Number("1e40"), ""}, {name, true, ""},
		{name, []any{"a"}, ""}, {name, map[string]any{}, ""}, {name, "bad\xff", ""},
		{path, "docs/a.pdf", "docs/a.pdf"}, {path, "50%/…/a", "50%/…/a"}, {path, "...", "..."}, {path, 7.0, "7"},
		{path, "", ""}, {path, ".", ""}, {path, "..", ""}, {path, "docs/../a", ""}, {path, "docs/./a", ""}, {path, "docs//a", ""},
		{path, "/docs/a", ""}, {path, "docs/", ""}, {path, "/", ""}, {path, "a\tb", ""}, {path, "a\u0085", ""},
	} {
		s := subject("7")
		s.Attributes = map[string]any{"key": c.value}
		got, err := onePart(t, `{blobs: {bucket: one, key: "x/`+c.template+`"}}`).Location(s)
		if c.want != "" && (err != nil || got.Key != "x/"+c.want) {
			t.Errorf("%s with %#v: want x/%s, got %q, %v", c.template, c.value, c.want, got.Key, err)
		}
		if p := problem.As(err); c.want == "" && (p == nil || p.Name != problem.InvalidAttribute || p.Field != "attributes.key") {
			t.Errorf("%s with %#v: want invalid-attribute at attributes.key, got %q, %v", c.template, c.value, got.Key, err)
		}
	}
}

func TestAMissingAttributeIsRefused(t *testing.T) {
	_, err := onePart(t, `{blobs: {bucket: one, key: "{attributes.key}"}}`).Location(subject("7"))
	if !errors.Is(err, problem.InvalidAttribute) {
		t.Errorf("want invalid-attribute, got %v", err)
	}
}

func TestAnEmptyValueMakesNoPlace(t *testing.T) {
	part := onePart(t, `{blobs: {bucket: one, prefix: "{owner}/{id}/{generation}/"}}`)
	for _, empty := range []func(*Subject){
		func(s *Subject) { s.ID = "" }, func(s *Subject) { s.Owner = "" }, func(s *Subject) { s.Generation = "" },
	} {
		s := subject("7")
		empty(&s)
		if got, err := part.Location(s); !errors.Is(err, problem.InvalidID) || got != (Location{}) {
			t.Errorf("%+v: want invalid-id, got %+v, %v", s, got, err)
		}
	}
}

func TestTypedKeysHaveOneForm(t *testing.T) {
	for _, c := range []struct {
		place, id string
		want      bool
	}{
		{"{document: {collection: x, id_type: int}}", "7", true},
		{"{document: {collection: x, id_type: int}}", "-9223372036854775808", true},
		{"{document: {collection: x, id_type: int}}", "007", false},
		{"{document: {collection: x, id_type: int}}", "+7", false},
		{"{document: {collection: x, id_type: int}}", "-0", false},
		{"{document: {collection: x, id_type: int}}", "9223372036854775808", false},
		{"{document: {collection: x, id_type: objectid}}", "0123456789abcdef01234567", true},
		{"{document: {collection: x, id_type: objectid}}", "0123456789ABCDEF01234567", false},
		{"{document: {collection: x, id_type: objectid}}", "0123456789abcdef0123456", false},
		{"{document: {collection: x, id_type: objectid}}", "0123456789abcdef0123456g", false},
	} {
		_, err := onePart(t, c.place).Location(subject(c.id))
		if c.want != (err == nil) || !c.want && !errors.Is(err, problem.InvalidID) {
			t.Errorf("%s with id %q: want accepted %t, got %v", c.place, c.id, c.want, err)
		}
	}
	s := subject("7")
	s.Attributes = map[string]any{"row": "x"}
	_, err := onePart(t, `{document: {collection: x, id_type: int, key: "{attributes.row}"}}`).Location(s)
	if p := problem.As(err); p == nil || p.Name != problem.InvalidAttribute || p.Field != "attributes.row" {
		t.Errorf("want invalid-attribute at attributes.row, got %v", err)
	}
}
