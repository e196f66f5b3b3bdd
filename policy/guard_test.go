package policy

import "testing"

// parts makes a policy with one kind.
func parts(t *testing.T, text string) *Policy {
	t.Helper()
	return mustParse(t, "kinds: {mesh: {parts: {"+text+"}}, other: {}}")
}

func TestGuardPlaces(t *testing.T) {
	const before = `a: {blobs: {bucket: one, prefix: "a/{id}/"}}, n: {document: {collection: notes}}`
	for _, c := range []struct {
		name, before, after string
		want                []string
	}{
		{"nothing has changed", before, before, nil},
		{"order, retention and fences are no places", before,
			`n: {document: {collection: notes}, retention: {after: 1d}}, a: {blobs: {prefix: "a/{id}/", bucket: one, unfenced: true, governance_bypass: true}}`, nil},
		{"a part more", before, before + `, b: {blobs: {bucket: one, prefix: "b/{id}/"}}`, nil},
		{"another prefix", before, `a: {blobs: {bucket: one, prefix: "b/{id}/"}}, n: {document: {collection: notes}}`, []string{"mesh/a"}},
		{"another bucket", before, `a: {blobs: {bucket: two, prefix: "a/{id}/"}}, n: {document: {collection: notes}}`, []string{"mesh/a"}},
		{"a key for a prefix", before, `a: {blobs: {bucket: one, key: "a/{id}"}}, n: {document: {collection: notes}}`, []string{"mesh/a"}},
		{"another collection, field and type", before + `, o: {document: {collection: o}}, p: {document: {collection: p}}`,
			`a: {blobs: {bucket: one, prefix: "a/{id}/"}}, n: {document: {collection: n}}, o: {document: {collection: o, id: name}}, p: {document: {collection: p, id_type: int}}`,
			[]string{"mesh/n", "mesh/o", "mesh/p"}},
		{"the old place is kept", before,
			`a: {blobs: {bucket: two, prefix: "{id}/"}, former: [{blobs: {bucket: one, prefix: "a/{id}/"}}]}, n: {document: {collection: new}, former: [{document: {collection: notes}}]}`, nil},
		{"another old place is kept", before,
			`a: {blobs: {bucket: two, prefix: "{id}/"}, former: [{blobs: {bucket: one, prefix: "b/{id}/"}}]}, n: {document: {collection: notes}}`, []string{"mesh/a"}},
		{"a former place is forgotten", `a: {blobs: {bucket: two, prefix: "{id}/"}, former: [{blobs: {bucket: one, prefix: "a/{id}/"}}]}`,
			`a: {blobs: {bucket: two, prefix: "{id}/"}}`, []string{"mesh/a"}},
		{"back to a former place", `a: {blobs: {bucket: two, prefix: "{id}/"}, former: [{blobs: {bucket: one, prefix: "a/{id}/"}}]}`,
			`a: {blobs: {bucket: one, prefix: "a/{id}/"}, former: [{blobs: {bucket: two, prefix: "{id}/"}}]}`, nil},
		{"a part is gone", before, `n: {document: {collection: notes}}`, []string{"mesh/a"}},
		{"all parts are gone", before, ``, []string{"mesh/a", "mesh/n"}},
		{"a new part made of attributes: nobody has claimed it", before,
			before + `, k: {blobs: {bucket: two, key: "{attributes.key}"}}`, []string{"mesh/k"}},
		{"moved to a place made of attributes: nobody has claimed it", before,
			`a: {blobs: {bucket: two, key: "{attributes.key}"}, former: [{blobs: {bucket: one, prefix: "a/{id}/"}}]}, n: {document: {collection: notes}}`, []string{"mesh/a"}},
		{"made of the same attributes in another bucket: the old claim does", `k: {blobs: {bucket: one, key: "{attributes.key}"}}`,
			`k: {blobs: {bucket: two, key: "{attributes.key}"}, former: [{blobs: {bucket: one, key: "{attributes.key}"}}]}`, nil},
		{"made of other attributes", `k: {blobs: {bucket: one, key: "{attributes.key}"}}`,
			`k: {blobs: {bucket: two, key: "{attributes.name}"}, former: [{blobs: {bucket: one, key: "{attributes.key}"}}]}`, []string{"mesh/k"}},
		{"no longer made of attributes", `k: {blobs: {bucket: one, key: "{attributes.key}"}}`,
			`k: {blobs: {bucket: two, key: "{id}"}, former: [{blobs: {bucket: one, key: "{attributes.key}"}}]}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, "changed", c.want, parts(t, c.after).GuardPlaces(parts(t, c.before).Places()))
		})
	}
}

func TestGuardPlacesOfARemovedKind(t *testing.T) {
	before := mustParse(t, `kinds: {mesh: {parts: {a: {document: {collection: a}}}}, item: {parts: {b: {document: {collection: b}}}}}`)
	after := mustParse(t, `kinds: {mesh: {parts: {a: {document: {collection: a}}}}}`)
	same(t, "changed", []string{"item/b"}, after.GuardPlaces(before.Places()))
}

func TestGuardPlacesBeforeAnythingWasRecorded(t *testing.T) {
	same(t, "changed", []string(nil), mustParse(t, files).GuardPlaces(nil))
}

func TestARecordThatCannotBeReadIsAChange(t *testing.T) {
	p := parts(t, `a: {document: {collection: a}}`)
	for _, record := range []string{"", "null", "[]", "{", `["a"]`} {
		same(t, record, []string{"mesh/a"}, p.GuardPlaces(map[string]string{"mesh/a": record}))
	}
}

func TestPlacesAreWrittenDownInOneForm(t *testing.T) {
	got := parts(t, `a: {blobs: {bucket: one, prefix: "a/{id}/"}, former: [{document: {collection: notes}}, {blobs: {bucket: one, key: "<{id}>"}}]}`).Places()
	same(t, "places", map[string]string{
		"mesh/a": `[{"bucket":"one","prefix":"a/{id}/"},{"collection":"notes","id":"_id","id_type":"string","key":"{id}"},{"bucket":"one","key":"\u003c{id}\u003e"}]`,
	}, got)
}
