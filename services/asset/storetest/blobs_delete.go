package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
)

func blobDelete(b blobs) {
	place := below(b.bucket, "p/")
	b.put(b.bucket, "p/a", "1")
	first := b.list(place)
	b.put(b.bucket, "p/a", "22")
	b.put(b.bucket, "p/b", "333")
	b.erase(b.bucket, first...)
	b.has(place, "p/a 2", "p/b 3")
	b.erase(b.bucket, first...) // the same ids again: what came later stays
	b.has(place, "p/a 2", "p/b 3")
	b.erase(b.bucket, b.list(exactly(b.bucket, "p/a"))...)
	b.has(place, "p/b 3")
	b.put(b.bucket, "p/a", "1")
	b.erase(b.bucket, first...)
	b.has(place, "p/a 1", "p/b 3")
}

func blobMarker(b blobs) {
	b.put(b.bucket, "p/a", "1")
	b.DeleteCurrent(b.t, b.bucket, "p/a")
	b.has(exactly(b.bucket, "p/a"), "p/a 1", "p/a marker")
	for _, v := range b.list(exactly(b.bucket, "p/a")) {
		if v.Marker {
			b.erase(b.bucket, v)
		}
	}
	b.has(exactly(b.bucket, "p/a"), "p/a 1")
	b.DeleteCurrent(b.t, b.bucket, "p/a")
	b.erase(b.bucket, b.list(exactly(b.bucket, "p/a"))...)
	b.has(exactly(b.bucket, "p/a"))
}

func blobRepeat(b blobs) {
	b.put(b.bucket, "p/a", "1")
	b.put(b.bucket, "p/b", "1")
	upload := asset.Version{Key: "p/u", ID: b.BeginUpload(b.t, b.bucket, "p/u"), Upload: true}
	a := b.list(exactly(b.bucket, "p/a"))
	b.erase(b.bucket, a[0], upload)
	b.erase(b.bucket, a[0], upload)
	b.erase(b.bucket, a[0], a[0], upload, upload)
	b.erase(b.bucket)
	never := a[0]
	never.Key = "p/never"
	b.erase(b.bucket, never)
	b.has(below(b.bucket, "p/"), "p/b 1")
}

func blobUploads(b blobs) {
	ids := map[string]bool{}
	for range 2 { // two uploads of one key
		ids[b.BeginUpload(b.t, b.bucket, "p/u")] = true
	}
	b.BeginUpload(b.t, b.bucket, "q/u")
	b.put(b.bucket, "p/u", "object")
	b.has(below(b.bucket, "p/"), "p/u 6", "p/u upload", "p/u upload")
	b.erase(b.bucket, asset.Version{Key: "p/u", ID: b.BeginUpload(b.t, b.bucket, "p/u"), Upload: true}) // the last begun, and no other
	left := 0
	for _, v := range b.list(below(b.bucket, "p/")) {
		if v.Upload && ids[v.ID] {
			left++
		}
	}
	same(b.t, "uploads left", left, 2)
	for _, v := range b.list(below(b.bucket, "p/")) {
		if v.Upload {
			same(b.t, "upload id known", ids[v.ID], true)
			b.erase(b.bucket, v)
		}
	}
	b.has(below(b.bucket, "p/"), "p/u 6")
	b.has(below(b.bucket, "q/"), "q/u upload")
	object := b.list(below(b.bucket, "p/"))[0]
	object.Upload = true // a version's id is no upload's
	b.erase(b.bucket, object)
	b.has(below(b.bucket, "p/"), "p/u 6")
}

func blobNoVersion(b blobs) {
	b.put(b.bucket, "p/a", "1")
	b.put(b.bucket, "p/b", "1")
	good := b.list(exactly(b.bucket, "p/b"))[0]
	errs := b.Blobs.Delete(b.ctx, b.bucket, []asset.Version{{Key: "p/a"}, {ID: good.ID}, good, {Key: "p/u", Upload: true}})
	if !errors.Is(errs[0], asset.ErrNoVersion) {
		b.t.Errorf("without a version id: %v, want %v", errs[0], asset.ErrNoVersion)
	}
	if !errors.Is(errs[1], asset.ErrEmptyKey) {
		b.t.Errorf("without a key: %v, want %v", errs[1], asset.ErrEmptyKey)
	}
	ok(b.t, "neighbour", errs[2])
	if !errors.Is(errs[3], asset.ErrNoVersion) {
		b.t.Errorf("an upload without its id: %v, want %v", errs[3], asset.ErrNoVersion)
	}
	b.has(below(b.bucket, "p/"), "p/a 1") // and no marker
}

// blobNoKey writes under no key: on a store that speaks HTTP this would be a request about the bucket.
func blobNoKey(b blobs) {
	if err := b.Blobs.Put(b.ctx, b.bucket, "", strings.NewReader("x"), 1); !errors.Is(err, asset.ErrEmptyKey) {
		b.t.Errorf("put without a key: %v, want %v", err, asset.ErrEmptyKey)
	}
	same(b.t, "whole bucket", len(b.pages(asset.Place{Bucket: b.bucket}, 10, nothing)), 0)
}

func blobUnversioned(b blobs) {
	plain := b.NewBucket(b.t, off)
	b.put(plain, "p/a", "1")
	b.put(plain, "p/a", "22")
	b.put(plain, "p/b", "333")
	b.put(plain, "p2/a", "4444")
	b.BeginUpload(b.t, plain, "p/u")
	b.has(below(plain, "p/"), "p/a 2", "p/b 3", "p/u upload")
	found := b.list(below(plain, "p/"))
	b.erase(plain, found...)
	b.has(below(plain, "p/"))
	b.erase(plain, found...)
	b.has(below(plain, "p2/"), "p2/a 4")
}

func blobSuspended(b blobs) {
	b.put(b.bucket, "p/a", "1")
	b.put(b.bucket, "p/a", "22")
	b.Suspend(b.t, b.bucket)
	b.put(b.bucket, "p/a", "333")
	b.put(b.bucket, "p/a", "4444") // replaces the one before, being the null version too
	b.put(b.bucket, "p/b", "55555")
	b.DeleteCurrent(b.t, b.bucket, "p/b")
	b.has(below(b.bucket, "p/"), "p/a 1", "p/a 2", "p/a 4", "p/b marker")
	if errs := b.Blobs.Delete(b.ctx, b.bucket, []asset.Version{{Key: "p/a"}}); !errors.Is(errs[0], asset.ErrNoVersion) {
		b.t.Errorf("without a version id: %v, want %v", errs[0], asset.ErrNoVersion)
	}
	b.erase(b.bucket, b.list(below(b.bucket, "p/"))...)
	b.has(below(b.bucket, "p/"))
}

func blobDeleteMany(b blobs) {
	const n = 1200 // more than one call of a store takes
	b.put(b.bucket, "p/a", "1")
	real := b.list(exactly(b.bucket, "p/a"))[0]
	versions := make([]asset.Version, n)
	for i := range versions {
		versions[i] = asset.Version{Key: fmt.Sprint("p/absent", i), ID: real.ID}
	}
	versions[n-1] = real
	b.erase(b.bucket, versions...)
	b.has(below(b.bucket, "p/"))
}

func blobMissingBucket(b blobs) {
	missing := unique(b.t, "missing-")
	b.put(b.bucket, "p/a", "1")
	listings, errs := b.Blobs.List(b.ctx, []asset.Place{below(missing, "p/"), below(b.bucket, "p/"), exactly(missing, "k")}, 10)
	ok(b.t, "neighbour", errs[1])
	same(b.t, "neighbour", shape(listings[1].Versions), []string{"p/a 1"})
	blocked(b.t, "list below a prefix", errs[0], asset.ReasonBucketMissing)
	blocked(b.t, "list a key", errs[2], asset.ReasonBucketMissing)
	real := b.list(below(b.bucket, "p/"))[0]
	errs = b.Blobs.Delete(b.ctx, missing, []asset.Version{real, {Key: "p/u", ID: real.ID, Upload: true}})
	blocked(b.t, "delete", errs[0], asset.ReasonBucketMissing)
	blocked(b.t, "abort", errs[1], asset.ReasonBucketMissing)
	_, err := b.Blobs.Mode(b.ctx, missing)
	blocked(b.t, "mode", err, asset.ReasonBucketMissing)
	err = b.Blobs.Put(b.ctx, missing, "p/a", strings.NewReader("x"), 1)
	blocked(b.t, "put", err, asset.ReasonBucketMissing)
}

func blobLocked(b blobs) {
	bucket, key := b.Locked(b.t)
	b.put(bucket, "free", "1")
	locked, free := b.list(exactly(bucket, key)), b.list(exactly(bucket, "free"))
	errs := b.Blobs.Delete(b.ctx, bucket, append(locked, free...))
	blocked(b.t, "delete", errs[0], asset.ReasonObjectLocked)
	if obstacle := asset.AsBlocked(errs[0]); obstacle != nil && !obstacle.Until.IsZero() && obstacle.Until.Before(time.Now()) {
		b.t.Errorf("the lock ends at %v, which has passed", obstacle.Until)
	}
	ok(b.t, "neighbour", errs[1])
	same(b.t, "what stays", len(b.list(exactly(bucket, key))), 1)
	mode, err := b.Blobs.Mode(b.ctx, bucket)
	ok(b.t, "mode", err)
	same(b.t, "object lock", mode.ObjectLock, true)
}

func blobCancelled(b blobs) {
	b.put(b.bucket, "p/a", "1")
	versions := b.list(below(b.bucket, "p/"))
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	if _, errs := b.Blobs.List(ctx, []asset.Place{below(b.bucket, "p/")}, 10); len(errs) != 1 || errs[0] == nil {
		b.t.Errorf("list: %v, want an error", errs)
	}
	if errs := b.Blobs.Delete(ctx, b.bucket, versions); len(errs) != 1 || errs[0] == nil {
		b.t.Errorf("delete: %v, want an error", errs)
	}
	b.has(below(b.bucket, "p/"), "p/a 1")
}
