package storetest

import (
	"fmt"
	"slices"

	"github.com/tombstone-project/tombstone/services/asset"
)

// blobNeighbours looks at many places side by side, prefixes and exact keys of which one begins like another, full, empty
// and longer than the limit, with others among them that nobody asks for; then deletes every other one and looks again.
func blobNeighbours(b blobs) {
	const n, limit = 24, 3
	held := map[asset.Place][]string{}
	asked := []asset.Place{}
	put := func(place asset.Place, key string) {
		b.put(b.bucket, key, key)
		held[place] = append(held[place], fmt.Sprint(key, " ", len(key)))
	}
	for i := range n {
		place, picture := below(b.bucket, fmt.Sprintf("p/%d/", i)), exactly(b.bucket, fmt.Sprintf("t/%d", i))
		for object := range i % 6 { // up to two more than the limit
			put(place, fmt.Sprintf("p/%d/%d", i, object))
		}
		if i%4 != 1 {
			put(picture, picture.Key)
		}
		if i%4 == 2 {
			b.DeleteCurrent(b.t, b.bucket, picture.Key)
			held[picture] = append(held[picture], picture.Key+" marker")
		}
		if i%3 != 0 { // the others are neighbours that nobody asks for
			asked = append(asked, place, picture)
		}
	}
	asked = append(asked, asked[:8]...) // some of them twice
	b.areSome(asked, held, limit)
	for i := 0; i < len(asked); i += 2 {
		b.erase(b.bucket, b.list(asked[i])...)
		delete(held, asked[i])
	}
	slices.Reverse(asked)
	b.areSome(asked, held, limit)
	for place := range held {
		b.has(place, held[place]...)
	}
}

// areSome looks at all places at once, and wants of each what it holds, or as much of it as the limit allows.
func (b blobs) areSome(places []asset.Place, held map[asset.Place][]string, limit int) {
	b.t.Helper()
	listings, errs := b.Blobs.List(b.ctx, places, limit)
	ok(b.t, "list", errs...)
	for i, place := range places {
		want := held[place]
		got := shape(listings[i].Versions)
		what := fmt.Sprint("what is at ", place.Prefix+place.Key)
		same(b.t, what+": more", listings[i].More, len(want) > limit)
		same(b.t, what+": how many", len(got), min(len(want), limit))
		for _, found := range got {
			if !slices.Contains(want, found) {
				b.t.Errorf("%s: %q, of which it holds none", what, found)
			}
		}
	}
}
