package storetest

import (
	"fmt"

	"github.com/tombstone-project/tombstone/services/asset"
)

// blobKeys fills places with confusing names, each as a key and as a segment of a prefix, and empties every other one.
func blobKeys(b blobs) {
	var places []asset.Place
	var want [][]string
	add := func(place asset.Place, shape ...string) {
		places, want = append(places, place), append(want, shape)
	}
	for what, name := range names {
		if key := "keys/" + name; b.takes(key) {
			b.put(b.bucket, key, what)
			add(exactly(b.bucket, key), fmt.Sprint(key, " ", len(what)))
		}
		if prefix := "prefixes/" + name + "/"; b.takes(prefix + "x") {
			b.put(b.bucket, prefix+"x", what)
			b.BeginUpload(b.t, b.bucket, prefix+"y")
			add(below(b.bucket, prefix), fmt.Sprint(prefix, "x ", len(what)), prefix+"y upload")
		}
	}
	for _, key := range []string{"keys/control\x01\x7f", "keys/line\nbreak\ttab", "keys/folder/", "keys//double"} {
		if b.takes(key) {
			b.put(b.bucket, key, "")
			add(exactly(b.bucket, key), key+" 0")
		}
	}
	b.areAt(places, want)
	for _, odd := range []int{0, 1} {
		for i := odd; i < len(places); i += 2 {
			b.erase(b.bucket, b.list(places[i])...)
			want[i] = nil
		}
		b.areAt(places, want)
	}
}

// areAt looks at all places at once.
func (b blobs) areAt(places []asset.Place, want [][]string) {
	b.t.Helper()
	listings, errs := b.Blobs.List(b.ctx, places, 10)
	ok(b.t, "list", errs...)
	for i := range places {
		same(b.t, fmt.Sprintf("what is at %q", places[i]), shape(listings[i].Versions), want[i])
	}
}
