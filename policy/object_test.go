package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
)

func TestAnObjectLiesBelowThePrefixUnderItsOwnName(t *testing.T) {
	part := onePart(t, `{blobs: {bucket: assets, prefix: "{id}/{generation}/"}}`)
	prefix := "1/" + generation + "/"
	for _, name := range []string{"a.bin", "sub/a b.bin", "%2e%2e", "...", "a//b", "dir/", "e\u0301", "é", "{id}", strings.Repeat("x", 255)} {
		got, err := part.Object(subject("1"), name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
		}
		same(t, name, Location{Bucket: "assets", Key: prefix + name, Fenced: true}, got)
	}
}

func TestANameMayNotLeadOutOfThePrefix(t *testing.T) {
	part := onePart(t, `{blobs: {bucket: assets, prefix: "{id}/{generation}/"}}`)
	for _, name := range []string{"", ".", "..", "../x", "a/../../x", "a/./b", "a/..", "./a", "a\x00b", "a\nb", "\u0085", "a\xff"} {
		_, err := part.Object(subject("1"), name)
		if p := problem.As(err); p == nil || p.Name != problem.InvalidRequest || p.Field != "name" {
			t.Errorf("%q: %v, want invalid-request at name", name, err)
		}
	}
	long := strings.Repeat(strings.Repeat("x", 200)+"/", 5)
	for _, name := range []string{strings.Repeat("x", 256), long} {
		if _, err := part.Object(subject("1"), name); !errors.Is(err, problem.LocationTooLong) {
			t.Errorf("%d bytes: %v, want location-too-long", len(name), err)
		}
	}
}

func TestAPartOfOneKeyHasNoNames(t *testing.T) {
	part := onePart(t, `{blobs: {bucket: thumbs, key: "{id}.png"}}`)
	for _, name := range []string{"", "x", ".."} {
		got, err := part.Object(subject("a/b"), name)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, Location{Bucket: "thumbs", Key: "a%2Fb.png"}, got)
	}
}

func TestADocumentHoldsNoObjects(t *testing.T) {
	if _, err := onePart(t, "{document: {collection: notes}}").Object(subject("1"), "x"); !errors.Is(err, problem.UnknownPart) {
		t.Errorf("%v, want unknown-part", err)
	}
}
