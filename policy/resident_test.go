package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const residentsText = `
kinds:
  mesh:
    parts:
      note: {document: {collection: notes, key: "{id}/{generation}"}}
      plain: {document: {collection: plain}}
      payload: {blobs: {bucket: assets, prefix: "payload/{hash:2}/{owner}/{id}/{generation}/"}}
      thumbnail: {blobs: {bucket: assets, key: "thumbs/{id}.png"}}
      file: {blobs: {bucket: files, key: "{attributes.key|path}"}}
`

// H-48: a spelling that is not ours is nobody's place.
func TestTheIDIsReadBackFromAKey(t *testing.T) {
	p, err := Parse("p", []byte(residentsText))
	if err != nil {
		t.Fatal(err)
	}
	const generation = "0198c0de-7f00-7000-8000-000000000001"
	hash := hashOf("a/b", 2)
	below := Resident{Kind: "mesh", Part: "payload", ID: "a/b", Owner: "acme", Generation: generation, Place: "payload/" + hash + "/acme/a%2Fb/" + generation + "/"}
	objects := map[string]struct {
		bucket, key string
		want        Resident // none: not read back
	}{
		"below a prefix":             {"assets", below.Place + "sub/x.bin", below},
		"an empty name":              {"assets", below.Place, below},
		"an exact key":               {"assets", "thumbs/x.png.png", Resident{Kind: "mesh", Part: "thumbnail", ID: "x.png", Place: "thumbs/x.png.png", Whole: true}},
		"the prefix without slash":   {"assets", strings.TrimSuffix(below.Place, "/"), Resident{}},
		"another hash":               {"assets", "payload/zz/acme/a%2Fb/" + generation + "/x", Resident{}},
		"not as we encode":           {"assets", "thumbs/%61.png", Resident{}},
		"no escape":                  {"assets", "thumbs/%zz.png", Resident{}},
		"an exact key and more":      {"assets", "thumbs/x.png/y", Resident{}},
		"another bucket":             {"other", "thumbs/x.png", Resident{}},
		"elsewhere":                  {"assets", "foreign/x", Resident{}},
		"a place made of attributes": {"files", "x", Resident{}},
	}
	for name, c := range objects {
		t.Run(name, func(t *testing.T) {
			got, ok := p.Resident(c.bucket, c.key)
			checkResident(t, got, ok, c.want)
		})
	}
	documents := map[string]struct {
		collection, key string
		want            Resident
	}{
		"a document":            {"notes", "a%2Fb/" + generation, Resident{Kind: "mesh", Part: "note", ID: "a/b", Generation: generation, Place: "a%2Fb/" + generation, Whole: true}},
		"a document by its id":  {"plain", "a/b", Resident{Kind: "mesh", Part: "plain", ID: "a/b", Place: "a/b", Whole: true}},
		"an id nobody can have": {"plain", "a\x00", Resident{}},
	}
	for name, c := range documents {
		t.Run(name, func(t *testing.T) {
			got, ok := p.DocumentResident(c.collection, c.key)
			checkResident(t, got, ok, c.want)
		})
	}
	if diff := cmp.Diff([]string{"mesh/file"}, p.Unreadable()); diff != "" {
		t.Error(diff)
	}
}

func checkResident(t *testing.T, got Resident, ok bool, want Resident) {
	t.Helper()
	if ok != (want != Resident{}) {
		t.Fatalf("read back: %t", ok)
	}
	if diff := cmp.Diff(want, got); ok && diff != "" {
		t.Error(diff)
	}
}

// H-48: whatever the policy and the assets, a key at a place is read back as that of its asset, and of no other one.
func TestAResidentIsTheAssetOfThePlace(t *testing.T) {
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		p := anyAccepted(t)
		unreadable := p.Unreadable()
		for _, a := range anyAssets(t, p) {
			for _, place := range a.places {
				r, ok := p.at(place.Location)
				if ok && r.ID != a.ID && len(a.claims) == 0 {
					t.Fatalf("%+v\nof %+v is read back as %+v", place, a.Subject, r)
				}
				if slices.Contains(unreadable, a.Kind+"/"+place.part) {
					continue
				}
				if !ok || r.ID != a.ID || r.Kind != a.Kind || r.Part != place.part {
					t.Fatalf("%+v\nof %+v is read back as %+v", place, a.Subject, r)
				}
				if !strings.HasPrefix(place.text(), r.Place) { // two places of one part may be one inside the other
					t.Fatalf("the place of %+v is %s", r, place.text())
				}
				read++
			}
		}
	})
	if read == 0 {
		t.Error("nothing was read back")
	}
}

// at gives the resident of what lies at a place.
func (p *Policy) at(l Location) (Resident, bool) {
	switch {
	case l.IsDocument():
		return p.DocumentResident(l.Collection, l.DocumentKey)
	case l.Prefix != "":
		return p.Resident(l.Bucket, l.Prefix+"sub/x")
	}
	return p.Resident(l.Bucket, l.Key)
}

func TestShelvesHoldEveryReadablePlaceOnce(t *testing.T) {
	p, err := Parse("p", []byte(`
kinds:
  mesh:
    parts:
      note: {document: {collection: notes, key: "{id}/{generation}"}}
      payload: {blobs: {bucket: assets, prefix: "payload/{hash:2}/{id}/{generation}/"}}
      raw: {blobs: {bucket: assets, prefix: "payload/raw-{id}/{generation}/"}}
      thumbnail: {blobs: {bucket: assets, key: "thumbs/{id}.png"}}
      whole: {blobs: {bucket: other, prefix: "{id}/{generation}/"}}
      file: {blobs: {bucket: files, key: "{attributes.key|path}"}}
  text:
    parts:
      number: {document: {collection: numbers, id: code, id_type: int}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Shelf{{Collection: "notes", IDField: "_id", IDType: IDString}, {Collection: "numbers", IDField: "code", IDType: IDInt},
		{Bucket: "assets", Prefix: "payload/"}, {Bucket: "assets", Prefix: "thumbs/"}, {Bucket: "other"}}
	if diff := cmp.Diff(want, p.Shelves()); diff != "" {
		t.Error(diff)
	}
}
