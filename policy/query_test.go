package policy

import "testing"

func TestKindAndPartAreFoundByName(t *testing.T) {
	p := mustParse(t, files)
	k, ok := p.Kind("file")
	if !ok || k.Name != "file" {
		t.Fatalf("want kind file, got %v", k)
	}
	if part, ok := k.Part("preview"); !ok || part.Name != "preview" {
		t.Errorf("want part preview, got %v", part)
	}
	if _, ok := k.Part("previe"); ok {
		t.Error("found a part that is not there")
	}
	if _, ok := p.Kind("fil"); ok {
		t.Error("found a kind that is not there")
	}
}

func TestLinkTypesByReaction(t *testing.T) {
	p := mustParse(t, `
links: {USES: {on_target_delete: restrict}, PART_OF: {on_target_delete: cascade}, DEPENDS_ON: {on_target_delete: restrict}}
kinds: {item: {}}`)
	for reaction, want := range map[Reaction][]string{Restrict: {"DEPENDS_ON", "USES"}, Cascade: {"PART_OF"}, Detach: nil} {
		same(t, string(reaction), want, p.LinkTypes(reaction))
	}
}

func TestStoresThatThePolicyNames(t *testing.T) {
	p := mustParse(t, "canary: {every: 1m, bucket: canaries}"+files)
	same(t, "buckets", []string{"assets", "canaries", "files", "layers", "old"}, p.Buckets())
	same(t, "collections", []string{"a/b", "notes"}, p.Collections())
	idle := mustParse(t, "canary: {every: 0, bucket: canaries}\nkinds: {item: {}}")
	same(t, "buckets of a canary that does not run", []string(nil), idle.Buckets())
}

func TestNeedVersionsListsPlacesWithoutGeneration(t *testing.T) {
	p := mustParse(t, `
kinds:
  b:
    parts:
      fenced: {blobs: {bucket: one, prefix: "fenced/{id}/{generation}/"}}
      moved:
        blobs: {bucket: one, prefix: "moved/{id}/{generation}/"}
        former: [{blobs: {bucket: two, prefix: "{id}/"}}, {blobs: {bucket: three, prefix: "{id}/", unfenced: true}}]
      accepted: {blobs: {bucket: one, key: "accepted/{id}", unfenced: true}}
      text: {document: {collection: texts}}
  a:
    parts:
      thumb: {blobs: {bucket: one, key: "thumbs/{id}.png"}}
`)
	same(t, "list", []Unversioned{{"a", "thumb", "one"}, {"b", "moved", "two"}}, p.NeedVersions())
}
