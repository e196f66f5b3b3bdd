package storetest

import (
	"errors"
	"fmt"

	"github.com/tombstone-project/tombstone/services/asset"
)

// pages reads a place page by page, each thing once, and fails the test where a page is longer than its limit. between is
// called after each page.
func (b blobs) pages(place asset.Place, limit int, between func(page int)) (all []asset.Version) {
	b.t.Helper()
	type thing struct{ key, id string }
	seen := map[thing]bool{}
	for page, mark := 1, ""; ; page++ {
		versions, next, err := b.Blobs.Page(b.ctx, place, mark, limit)
		ok(b.t, fmt.Sprint("page ", page), err)
		if len(versions) > limit {
			b.t.Fatalf("page %d has %d versions, more than %d", page, len(versions), limit)
		}
		for _, v := range versions {
			if seen[thing{v.Key, v.ID}] {
				b.t.Errorf("%s %s came twice", v.Key, v.ID)
			}
			seen[thing{v.Key, v.ID}] = true
		}
		all = append(all, versions...)
		if next == "" {
			return all
		}
		if page > 200 {
			b.t.Fatal("the pages do not end")
		}
		between(page)
		mark = next
	}
}

func nothing(int) {}

func blobPages(b blobs) {
	for i := range 12 {
		key := fmt.Sprintf("p/1/%d", i)
		b.put(b.bucket, key, "one")
		b.put(b.bucket, key, "three")
		b.BeginUpload(b.t, b.bucket, key)
	}
	b.DeleteCurrent(b.t, b.bucket, "p/1/2")
	b.DeleteCurrent(b.t, b.bucket, "p/1/3")
	b.put(b.bucket, "p/1/3", "x")
	b.put(b.bucket, "p/10/0", "a neighbour")
	b.put(b.bucket, "p/0/0", "a neighbour")
	want := b.list(below(b.bucket, "p/1/"))
	if len(want) != 39 {
		b.t.Fatalf("%d versions, want 39", len(want))
	}
	for _, limit := range []int{10, 11, 13, 1000} {
		same(b.t, fmt.Sprint("pages of ", limit), sorted(b.pages(below(b.bucket, "p/1/"), limit, nothing)), want)
	}
	same(b.t, "pages of nothing", b.pages(below(b.bucket, "p/2/"), 10, nothing), []asset.Version{})
}

func blobPagesOfAShelf(b blobs) {
	for i := range 15 {
		b.put(b.bucket, fmt.Sprintf("p/1/%d", i), "x")
		b.put(b.bucket, fmt.Sprintf("q-%d/x", i), "x")
	}
	b.BeginUpload(b.t, b.bucket, "p/1/up")
	within := b.list(below(b.bucket, "p/"))
	same(b.t, "below a prefix", sorted(b.pages(asset.Place{Bucket: b.bucket, Prefix: "p/"}, 10, nothing)), within)
	same(b.t, "whole bucket", len(b.pages(asset.Place{Bucket: b.bucket}, 10, nothing)), len(within)+15)
	for _, bad := range []asset.Place{{}, {Prefix: "p/"}, {Bucket: b.bucket, Prefix: "p/", Key: "p/1/0"}} {
		if _, _, err := b.Blobs.Page(b.ctx, bad, "", 10); !errors.Is(err, asset.ErrBadPlace) {
			b.t.Errorf("a page of %+v: %v", bad, err)
		}
	}
}

func blobPagesOfAKey(b blobs) {
	for range 25 {
		b.put(b.bucket, "t/k", "x")
	}
	b.put(b.bucket, "t/k2", "sibling")
	b.put(b.bucket, "t/j", "sibling")
	b.BeginUpload(b.t, b.bucket, "t/k")
	b.BeginUpload(b.t, b.bucket, "t/k2")
	for _, limit := range []int{10, 12, 100} {
		same(b.t, fmt.Sprint("pages of ", limit), sorted(b.pages(exactly(b.bucket, "t/k"), limit, nothing)), b.list(exactly(b.bucket, "t/k")))
	}
}

// blobPagesWhileDeleting deletes behind the mark, as another's erasure would: what stays is told all the same.
func blobPagesWhileDeleting(b blobs) {
	for i := range 25 {
		b.put(b.bucket, fmt.Sprintf("p/1/%02d", i), "x")
	}
	first := b.list(below(b.bucket, "p/1/"))[0]
	all := b.pages(below(b.bucket, "p/1/"), 10, func(page int) {
		if page == 1 {
			b.erase(b.bucket, first)
		}
	})
	if len(all) != 25 {
		b.t.Errorf("%d versions, want 25: %v", len(all), shape(all))
	}
}

func blobPagesRefused(b blobs) {
	var blocked *asset.Blocked
	_, _, err := b.Blobs.Page(b.ctx, below(unique(b.t, "none-"), "p/1/"), "", 10)
	if !errors.As(err, &blocked) || blocked.Reason != asset.ReasonBucketMissing {
		b.t.Errorf("a missing bucket: %v", err)
	}
}

// testPages are the tests of pages.
func testPages(run func(name string, test func(b blobs))) {
	run("pages tell each thing of a prefix once", blobPages)
	run("pages of an exact key take no sibling", blobPagesOfAKey)
	run("pages of a prefix hold the places below it, those of a bucket all of it", blobPagesOfAShelf)
	run("pages go on while others delete", blobPagesWhileDeleting)
	run("pages of a missing bucket are refused", blobPagesRefused)
}
