package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
)

func blobMode(b blobs) {
	plain := b.NewBucket(b.t, off)
	for bucket, want := range map[string]string{b.bucket: enabled, plain: off} {
		mode, err := b.Blobs.Mode(b.ctx, bucket)
		ok(b.t, "mode", err)
		same(b.t, "versioning", mode.Versioning, want)
		same(b.t, "object lock", mode.ObjectLock, false)
		same(b.t, "replicated", mode.Replicated, false)
	}
	if b.Suspend != nil {
		b.Suspend(b.t, b.bucket)
		mode, err := b.Blobs.Mode(b.ctx, b.bucket)
		ok(b.t, "mode", err)
		same(b.t, "versioning", mode.Versioning, suspended)
	}
}

func blobListing(b blobs) {
	b.has(below(b.bucket, "p/1/"))
	b.put(b.bucket, "p/1/a", "one")
	b.put(b.bucket, "p/1/a", "three")
	b.put(b.bucket, "p/1/b", "")
	b.put(b.bucket, "p/1/deep/er/c", "x")
	b.DeleteCurrent(b.t, b.bucket, "p/1/b")
	upload := b.BeginUpload(b.t, b.bucket, "p/1/d")
	b.has(below(b.bucket, "p/1/"), "p/1/a 3", "p/1/a 5", "p/1/b 0", "p/1/b marker", "p/1/d upload", "p/1/deep/er/c 1")

	for _, v := range b.list(below(b.bucket, "p/1/")) {
		if v.Upload && v.ID != upload {
			b.t.Errorf("upload id %q, want %q", v.ID, upload)
		}
		if v.ID == "" {
			b.t.Errorf("%s has no id", v.Key)
		}
		if v.Modified.IsZero() || time.Since(v.Modified) > time.Hour {
			b.t.Errorf("%s is of %v, want about now", v.Key, v.Modified)
		}
	}
}

func blobExactKey(b blobs) {
	for _, key := range []string{"t/k", "t/k2", "t/k.png", "t/K", "t/j", "t/k "} {
		if b.takes(key) {
			b.put(b.bucket, key, key)
		}
	}
	if !b.NoKeyUnderKey {
		b.put(b.bucket, "t/k/x", "x")
	}
	b.put(b.bucket, "t/k", "four")
	upload := b.BeginUpload(b.t, b.bucket, "t/k")
	b.BeginUpload(b.t, b.bucket, "t/k2")
	b.has(exactly(b.bucket, "t/k"), "t/k 3", "t/k 4", "t/k upload")
	b.erase(b.bucket, b.list(exactly(b.bucket, "t/k"))...)
	b.has(exactly(b.bucket, "t/k"))
	b.has(exactly(b.bucket, "t/k2"), "t/k2 4", "t/k2 upload")
	if upload == "" {
		b.t.Error("upload without an id")
	}
}

func blobPrefix(b blobs) {
	prefixes := []string{"p/1/", "p/10/", "p/1-/", "p/0/", "q/1/", "p/1 /", "P/1/"}
	var places []asset.Place
	var want [][]string
	for i, prefix := range prefixes {
		b.put(b.bucket, prefix+"x", strings.Repeat("x", i))
		b.BeginUpload(b.t, b.bucket, prefix+"y")
		places = append(places, below(b.bucket, prefix))
		want = append(want, []string{fmt.Sprint(prefix, "x ", i), prefix + "y upload"})
	}
	// in one call, in no order, one of them twice, one of them empty
	places = append(places, places[0], below(b.bucket, "p/2/"))
	want = append(want, want[0], nil)
	listings, errs := b.Blobs.List(b.ctx, places, 1000)
	ok(b.t, "list", errs...)
	for i, place := range places {
		same(b.t, fmt.Sprint("what is at ", place), shape(listings[i].Versions), want[i])
	}
	b.erase(b.bucket, b.list(places[0])...)
	b.has(places[0])
	b.has(places[1], want[1]...)
}

func blobFresh(b blobs) {
	place := below(b.bucket, "p/")
	b.has(place)
	b.put(b.bucket, "p/a", "1")
	b.has(place, "p/a 1")
	listings, errs := b.Blobs.List(b.ctx, []asset.Place{place}, 10)
	ok(b.t, "list", errs...)
	if at := listings[0].At; !at.IsZero() && (time.Until(at) > time.Minute || time.Since(at) > time.Hour) {
		b.t.Errorf("the store answered at %v, want about now, or no time", at)
	}
	b.put(b.bucket, "p/b", "22")
	b.has(place, "p/a 1", "p/b 2")
	b.erase(b.bucket, b.list(place)...)
	b.has(place)
}

// blobBadPlaces asks for what could mean a whole bucket (H-36).
func blobBadPlaces(b blobs) {
	b.put(b.bucket, "p/a", "1")
	good := below(b.bucket, "p/")
	bad := []asset.Place{
		{Bucket: b.bucket}, {Bucket: b.bucket, Prefix: "p"}, {Bucket: b.bucket, Prefix: "p/", Key: "p/a"}, {Prefix: "p/"},
		{Bucket: b.bucket, Prefix: "/"},
	}
	for _, place := range bad {
		listings, errs := b.Blobs.List(b.ctx, []asset.Place{good, place, good}, 10)
		ok(b.t, "list", errs[0], errs[2])
		if !errors.Is(errs[1], asset.ErrBadPlace) || len(listings[1].Versions) != 0 {
			b.t.Errorf("%+v: %v, %v; want %v", place, listings[1], errs[1], asset.ErrBadPlace)
		}
		same(b.t, "neighbour", shape(listings[2].Versions), []string{"p/a 1"})
	}
}

// blobLimit walks through a place in small pages, deleting each, as the erasing does.
func blobLimit(b blobs) {
	for _, key := range []string{"p/a", "p/a", "p/b", "p/c"} {
		b.put(b.bucket, key, "x")
	}
	b.DeleteCurrent(b.t, b.bucket, "p/c")
	b.BeginUpload(b.t, b.bucket, "p/d")
	b.put(b.bucket, "q/a", "stays")
	found := []asset.Version{}
	for range 10 {
		listings, errs := b.Blobs.List(b.ctx, []asset.Place{below(b.bucket, "p/"), below(b.bucket, "q/")}, 2)
		ok(b.t, "list", errs...)
		page := listings[0]
		if len(page.Versions) > 2 || page.More && len(page.Versions) == 0 {
			b.t.Fatalf("a page of %d, more %v; the limit is 2", len(page.Versions), page.More)
		}
		same(b.t, "neighbour", shape(listings[1].Versions), []string{"q/a 5"})
		found = append(found, page.Versions...)
		b.erase(b.bucket, page.Versions...)
		if !page.More {
			break
		}
	}
	same(b.t, "found", shape(found), []string{"p/a 1", "p/a 1", "p/b 1", "p/c 1", "p/c marker", "p/d upload"})
	b.has(below(b.bucket, "p/"))
}

// blobLong lists more than the 1,000 entries that a store gives in one answer, each once.
func blobLong(b blobs) {
	const n = 1005
	errs := together(8, func(worker int) error {
		for i := worker; i < n; i += 8 {
			if err := b.Blobs.Put(b.ctx, b.bucket, fmt.Sprintf("p/%04d", i), strings.NewReader("x"), 1); err != nil {
				return err
			}
		}
		return nil
	})
	ok(b.t, "put", errs...)
	b.put(b.bucket, "p/0999", "xx") // an older version at the border of the pages
	b.put(b.bucket, "p/0000", "xx")
	seen := map[string]bool{}
	for _, v := range b.list(below(b.bucket, "p/")) {
		if seen[v.Key+"\x00"+v.ID] {
			b.t.Errorf("%s %s is listed twice", v.Key, v.ID)
		}
		seen[v.Key+"\x00"+v.ID] = true
	}
	same(b.t, "versions found", len(seen), n+2)
	listings, errs := b.Blobs.List(b.ctx, []asset.Place{below(b.bucket, "p/")}, 1000)
	ok(b.t, "list", errs...)
	same(b.t, "of a limit of 1,000", len(listings[0].Versions), 1000)
	same(b.t, "more", listings[0].More, true)
	listings, errs = b.Blobs.List(b.ctx, []asset.Place{below(b.bucket, "p/")}, n+2)
	ok(b.t, "list", errs...)
	same(b.t, "of a limit just met", len(listings[0].Versions), n+2)
	same(b.t, "more", listings[0].More, false)
}
