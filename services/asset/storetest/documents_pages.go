package storetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
)

// shelf is the subtest's collection, by text in `_id`.
func (d documents) shelf() asset.DocumentShelf {
	return asset.DocumentShelf{Collection: d.collection, IDType: policy.IDString}
}

// pages reads a shelf to its end and gives the generation of each key; a key that comes twice fails the test.
func (d documents) pages(shelf asset.DocumentShelf, limit int) map[string]string {
	d.t.Helper()
	all := map[string]string{}
	for mark, begun := "", false; mark != "" || !begun; begun = true {
		kept, next, err := d.Documents.Page(d.ctx, shelf, mark, limit)
		ok(d.t, "page", err)
		if len(kept) > limit {
			d.t.Fatalf("a page of %d has %d", limit, len(kept))
		}
		for _, k := range kept {
			if _, twice := all[k.Key]; twice {
				d.t.Errorf("%q comes twice", k.Key)
			}
			all[k.Key] = k.Generation
		}
		mark = next
	}
	return all
}

func documentPages(d documents) {
	want := map[string]string{}
	for i := range 25 {
		key := fmt.Sprintf("key/%02d \u00e9", i)
		d.put(d.ref(key, older), map[string]any{"n": "x"})
		want[key] = older
	}
	d.Adopt(d.t, d.ref("adopted", ""), map[string]any{"n": "x"})
	want["adopted"] = ""
	for _, limit := range []int{1, 10, 26, 100} {
		same(d.t, fmt.Sprintf("pages of %d", limit), d.pages(d.shelf(), limit), want)
	}
	gone := slices.Sorted(maps.Keys(want))[:5]
	for _, key := range gone {
		d.deletes(d.ref(key, older))
		delete(want, key)
	}
	same(d.t, "pages after deletes", d.pages(d.shelf(), 10), want)
	elsewhere := d.shelf()
	elsewhere.Collection = unique(d.t, "never_")
	same(d.t, "pages of a collection that is not there", d.pages(elsewhere, 10), map[string]string{})
}

func documentPagesOfTypes(d documents) {
	byNumber := asset.DocumentShelf{Collection: d.collection, IDType: policy.IDInt}
	byField := asset.DocumentShelf{Collection: d.collection, IDField: "code", IDType: policy.IDString}
	number := asset.DocumentRef{Collection: d.collection, Key: "-7", IDType: policy.IDInt, Generation: older}
	field := asset.DocumentRef{Collection: d.collection, Key: "c-1", IDField: "code", IDType: policy.IDString, Generation: newer}
	d.put(number, map[string]any{})
	d.put(field, map[string]any{})
	d.put(d.ref("text", older), map[string]any{})
	same(d.t, "by number", d.pages(byNumber, 10), map[string]string{"-7": older})
	same(d.t, "by field", d.pages(byField, 10), map[string]string{"c-1": newer})
	same(d.t, "by text", d.pages(d.shelf(), 10), map[string]string{"text": older})
}
