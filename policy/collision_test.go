package policy

import (
	"strings"
	"testing"
)

// kinds makes the text of a policy with one kind a line: its parts, as they stand in the policy.
func kinds(lines ...string) string {
	text := "kinds:\n"
	for i, line := range lines {
		text += "  k" + string(rune('0'+i)) + ": {parts: {" + line + "}}\n"
	}
	return text
}

// at is a part with a place in the bucket one.
func at(name, place string) string { return name + ": {blobs: {bucket: one, " + place + "}}" }

func TestPlacesThatMayStandSideBySide(t *testing.T) {
	for name, text := range map[string]string{
		"another first word": kinds(at("a", `prefix: "a/{id}/"`), at("a", `prefix: "b/{id}/"`)),
		"another word behind the id": kinds(at("a", `prefix: "x/{id}/a/"`)+", "+at("b", `prefix: "x/{id}/b/"`),
			at("c", `prefix: "x/{id}/c/{generation}/"`)),
		"another suffix":                    kinds(at("a", `key: "x/{id}.png"`) + ", " + at("b", `key: "x/{id}.json"`)),
		"the kind's name":                   kinds(at("a", `prefix: "{kind}/{id}/"`), at("a", `prefix: "{kind}/{id}/"`)),
		"a hash is no word":                 kinds(at("a", `prefix: "{hash:2}/{id}/"`), at("a", `prefix: "payload/{id}/"`)),
		"a hash of another length":          kinds(at("a", `prefix: "{hash:2}/{id}/"`), at("a", `prefix: "{hash:3}/{id}/"`)),
		"a key of fewer segments":           kinds(at("a", `key: "x/{id}"`), at("a", `prefix: "x/{id}/"`)),
		"keys of different length":          kinds(at("a", `key: "{id}"`), at("a", `key: "{id}/{generation}"`)),
		"another bucket":                    kinds(at("a", `prefix: "x/{id}/"`), `a: {blobs: {bucket: two, prefix: "x/{id}/"}}`),
		"a bucket and a collection":         kinds(`a: {document: {collection: one, key: "x/{id}"}}, b: {blobs: {bucket: one, key: "x/{id}"}}`),
		"documents with another first word": kinds(`a: {document: {collection: c, key: "a:{id}"}}`, `a: {document: {collection: c, key: "b:{id}"}}`),
		"a former place around the present": kinds(`a: {blobs: {bucket: one, prefix: "x/{id}/{generation}/"}, former: [{blobs: {bucket: one, prefix: "x/{id}/"}}]}`),
		"a former place in another form":    kinds(`a: {blobs: {bucket: one, prefix: "x/{id}/"}, former: [{blobs: {bucket: one, key: "{owner}/{id}/data.bin"}}]}`),
		"keys made of attributes":           kinds(at("a", `key: "{attributes.a|path}"`)+", "+at("b", `key: "{attributes.b|path}"`), at("c", `key: "x/{attributes.c}"`)),
		"documents made of attributes":      kinds(`a: {document: {collection: c, key: "{attributes.a}"}}`, `b: {document: {collection: c, key: "{attributes.b}"}}`),
		"an attribute below a word":         kinds(at("a", `key: "in/{attributes.a|path}"`), at("b", `prefix: "out/{id}/"`)),
		"the owner in front of the id":      kinds(at("a", `prefix: "{owner}/{id}/"`)),
		"words around the id":               kinds(at("a", `prefix: "{id}-x/"`)),
		"a hash beside the id":              kinds(at("a", `prefix: "{hash:2}{id}/"`)),
		"a path behind the id":              kinds(at("a", `prefix: "{id}/{attributes.folder|path}/"`)),
		"an owner's name beside a value":    kinds(at("a", `key: "{owner}-{attributes.name}"`)),
	} {
		t.Run(name, func(t *testing.T) { mustParse(t, text) })
	}
}

func TestPlacesThatCouldMeet(t *testing.T) {
	meet := func(later, earlier string, line string, store string) string {
		sort, _, _ := strings.Cut(store, " ")
		return later + " could be at the same place as " + earlier + " (line " + line + ") in " + store + "; let them begin with different words, or use another " + sort
	}
	k0, k1 := "part k0/a", "part k1/a"
	checkRefusals(t, []refusal{
		{"one prefix in two kinds", kinds(at("a", `prefix: "x/{owner}/{id}/"`), at("a", `prefix: ‸"x/{owner}/{id}/"`)), meet(k1, k0, "2", "bucket one")},
		{"one prefix in two parts", kinds(at("a", `prefix: "x/{id}/"`) + ", " + at("b", `prefix: ‸"x/{id}/"`)), meet("part k0/b", k0, "2", "bucket one")},
		{"an id can be a word", kinds(at("a", `prefix: "payload/{owner}/{id}/{generation}/"`), at("a", `prefix: ‸"{id}/"`)), meet(k1, k0, "2", "bucket one")},
		{"an owner can be a word", kinds(at("a", `prefix: "payload/{id}/"`), at("a", `prefix: ‸"{owner}/{id}/"`)), meet(k1, k0, "2", "bucket one")},
		{"a key below a prefix", kinds(at("a", `prefix: "a/{id}/"`), at("a", `key: ‸"a/{id}/x"`)), meet(k1, k0, "2", "bucket one")},
		{"an id can end like a suffix", kinds(at("a", `prefix: "{id}/"`), at("a", `prefix: ‸"{id}-x/"`)), meet(k1, k0, "2", "bucket one")},
		{"an id can begin like a word", kinds(at("a", `key: "x/{id}"`), at("a", `key: ‸"x/y-{id}"`)), meet(k1, k0, "2", "bucket one")},
		{"a suffix can end like a suffix", kinds(at("a", `key: "x/{id}.png"`), at("a", `key: ‸"x/{id}.thumb.png"`)), meet(k1, k0, "2", "bucket one")},
		{"a word can be a hash", kinds(at("a", `prefix: "{hash:2}/{id}/"`), at("a", `prefix: ‸"ab/{id}/"`)), meet(k1, k0, "2", "bucket one")},
		{"an attribute can be anything", kinds(at("a", `prefix: "payload/{id}/"`), at("a", `key: ‸"{attributes.key|path}"`)), meet(k1, k0, "2", "bucket one")},
		{"so can that of one's own former place", kinds(`a: {blobs: {bucket: one, prefix: "{id}/"}, former: [{blobs: {bucket: one, key: ‸"{attributes.key|path}"}}]}`),
			meet("a former place of part k0/a", k0, "2", "bucket one")},
		{"former places count", kinds(at("a", `prefix: "x/{id}/"`), `a: {blobs: {bucket: two, prefix: "{id}/"}, former: [{blobs: {bucket: one, prefix: ‸"x/{id}/y/"}}]}`),
			meet("a former place of part k1/a", k0, "2", "bucket one")},
		{"a former place with the id elsewhere", kinds(`a: {blobs: {bucket: one, prefix: "{id}/{generation}/"}, former: [{blobs: {bucket: one, prefix: ‸"{owner}/{id}/"}}]}`),
			meet("a former place of part k0/a", k0, "2", "bucket one")},
		{"a former place that is the present", kinds(`a: {blobs: {bucket: one, prefix: "{id}/"}, former: [{blobs: {bucket: one, prefix: ‸"{id}/"}}]}`),
			"a former place of part k0/a is the one of line 2 once more; remove it"},
		{"one collection for two parts", kinds(`a: {document: {collection: c}}, b: {document: ‸{collection: c}}`), meet("part k0/b", k0, "2", "collection c")},
		{"one collection for two kinds", kinds(`a: {document: {collection: c, key: "{id}/{generation}"}}`, `a: {document: {collection: c, key: ‸"{id}/{generation}"}}`),
			meet(k1, k0, "2", "collection c")},
		{"the plain id of a document can hold a slash", kinds(`a: {document: {collection: c, key: "{id}/{generation}"}, former: [{document: ‸{collection: c}}]}`),
			meet("a former place of part k0/a", k0, "2", "collection c")},
		{"one collection, two fields", kinds(`a: {document: {collection: c, key: "a:{id}"}}`, `a: {document: ‸{collection: c, id: name}}`),
			"part k1/a finds its documents by another field than part k0/a (line 2) in the same collection; use the same id, or another collection"},
		{"the first that it could meet is named", kinds(at("a", `prefix: "x/{id}/"`), at("a", `prefix: "y/{id}/"`), at("a", `key: ‸"y/{id}/z"`)),
			meet("part k2/a", k1, "3", "bucket one")},
	})
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true}, {"a", "a", true}, {"a", "b", false}, {"a", "ab", false},
		{"{id}", "a", true}, {"{id}", "a/b", false}, {"{id}", "", false}, {"{id}{id}", "a", false}, {"{id}{id}", "ab", true},
		{"a{id}", "{id}b", true}, {"a{id}", "b{id}", false}, {"{id}a", "{id}b", false}, {"a{id}c", "a{id}bc", true}, {"ab{id}", "a", false},
		{"{hash:2}", "0f", true}, {"{hash:2}", "0g", false}, {"{hash:2}", "0F", false}, {"{hash:2}", "{hash:3}", false}, {"{hash:2}", "{id}", true},
		{"{hash:1}x", "{hash:2}", false},
		{"{attributes.x|path}", "a/b/c", true}, {"{attributes.x|path}/x", "a/b", false}, {"a/{attributes.x|path}", "{id}/{id}/b", true},
		{"é", "{hash:1}{hash:1}", false},
	} {
		a, b := template(t, c.a, "mesh").pattern(false), template(t, c.b, "mesh").pattern(false)
		if overlap(a, b) != c.want || overlap(b, a) != c.want {
			t.Errorf("%q and %q: want %t", c.a, c.b, c.want)
		}
	}
}
