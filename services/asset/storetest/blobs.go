package storetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Bucket modes, as asset.BucketMode.Versioning names them.
const (
	enabled   = "enabled"
	suspended = "suspended"
	off       = "off"
)

// BlobStore is an object store under test.
type BlobStore struct {
	Blobs asset.Blobs
	// NewBucket makes an empty bucket with a name of its own; versioning is "enabled" or "off".
	NewBucket func(t *testing.T, versioning string) string
	// Suspend stops versioning in a bucket that has it; nil where the store cannot.
	Suspend func(t *testing.T, bucket string)
	// BeginUpload begins an upload in parts, with one part of some bytes, and leaves it there; it gives the upload id.
	BeginUpload func(t *testing.T, bucket, key string) string
	// DeleteCurrent deletes by key alone, as others do: where versions are kept it leaves a marker.
	DeleteCurrent func(t *testing.T, bucket, key string)
	// Locked makes a bucket with one object under an object lock and gives both names; nil where the store cannot.
	Locked func(t *testing.T) (bucket, key string)
	// Refuses tells the keys that the store cannot hold by its own rules; nil: it holds all.
	Refuses func(key string) bool
	// NoKeyUnderKey: the store refuses `a/b` while there is `a` (it keeps objects as files).
	NoKeyUnderKey bool
}

// blobs is one subtest's store with a versioned bucket of its own.
type blobs struct {
	BlobStore
	t      *testing.T
	ctx    context.Context
	bucket string
}

// TestBlobs checks the contract of asset.Blobs. open is called once; every subtest uses buckets of its own.
func TestBlobs(t *testing.T, open func(t *testing.T) BlobStore) {
	store := open(t)
	run := func(name string, test func(b blobs)) {
		t.Run(name, func(t *testing.T) {
			test(blobs{store, t, t.Context(), store.NewBucket(t, enabled)})
		})
	}
	run("answers a ping", func(b blobs) { ok(b.t, "ping", b.Blobs.Ping(b.ctx)) })
	run("tells how a bucket keeps versions", blobMode)
	run("lists versions, markers and uploads of a prefix", blobListing)
	run("an exact key takes no sibling", blobExactKey)
	run("a prefix takes no neighbour, 1 never takes 10", blobPrefix)
	run("neighbours are told apart in one call", blobNeighbours)
	run("every look is afresh", blobFresh)
	run("bad places are refused, their neighbours listed", blobBadPlaces)
	run("a limit gives some and says that there is more", blobLimit)
	run("more than a page of a store is found whole", blobLong)
	testPages(run)
	run("deletes exactly the versions given", blobDelete)
	run("deleting a marker brings the object back", blobMarker)
	run("a repeat, and what was never there, is a success", blobRepeat)
	run("unfinished uploads are aborted", blobUploads)
	run("never by key alone in a bucket with versions", blobNoVersion)
	run("nothing is written without a key", blobNoKey)
	run("a bucket without versions is emptied", blobUnversioned)
	run("keys are taken literally", blobKeys)
	run("any number of versions in one call", blobDeleteMany)
	run("a missing bucket is an obstacle, its neighbours are fine", blobMissingBucket)
	run("a cancelled call fails and deletes nothing", blobCancelled)
	if store.Suspend != nil {
		run("a bucket whose versions are suspended is emptied", blobSuspended)
	}
	if store.Locked != nil {
		run("a locked object is an obstacle, its neighbours go", blobLocked)
	}
}

func (b blobs) put(bucket, key, content string) {
	b.t.Helper()
	ok(b.t, "put "+key, b.Blobs.Put(b.ctx, bucket, key, bytes.NewReader([]byte(content)), int64(len(content))))
}

func below(bucket, prefix string) asset.Place { return asset.Place{Bucket: bucket, Prefix: prefix} }

func exactly(bucket, key string) asset.Place { return asset.Place{Bucket: bucket, Key: key} }

// list gives all versions of one place, sorted by key, kind and id.
func (b blobs) list(place asset.Place) []asset.Version {
	b.t.Helper()
	listings, errs := b.Blobs.List(b.ctx, []asset.Place{place}, 5000)
	ok(b.t, "list", errs...)
	if len(listings) != 1 || listings[0].More {
		b.t.Fatalf("list: %d listings, more %v; want 1 that is whole", len(listings), listings[0].More)
	}
	return sorted(listings[0].Versions)
}

func sorted(versions []asset.Version) []asset.Version {
	out := slices.Clone(versions)
	slices.SortFunc(out, func(x, y asset.Version) int {
		return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(fmt.Sprint(x.Upload, x.Marker), fmt.Sprint(y.Upload, y.Marker)),
			cmp.Compare(x.Bytes, y.Bytes), cmp.Compare(x.ID, y.ID))
	})
	return out
}

// shape tells what a listing holds without ids and times: "key 3", "key marker", "key upload".
func shape(versions []asset.Version) []string {
	out := []string{}
	for _, v := range sorted(versions) {
		switch {
		case v.Upload:
			out = append(out, v.Key+" upload")
		case v.Marker:
			out = append(out, v.Key+" marker")
		default:
			out = append(out, fmt.Sprint(v.Key, " ", v.Bytes))
		}
	}
	return out
}

// has fails the test when the place does not hold exactly this.
func (b blobs) has(place asset.Place, want ...string) {
	b.t.Helper()
	same(b.t, fmt.Sprint("what is at ", place), shape(b.list(place)), want)
}

// erase deletes the versions and fails the test when one cannot be.
func (b blobs) erase(bucket string, versions ...asset.Version) {
	b.t.Helper()
	errs := b.Blobs.Delete(b.ctx, bucket, versions)
	if len(errs) != len(versions) {
		b.t.Fatalf("delete: %d errors for %d versions", len(errs), len(versions))
	}
	ok(b.t, "delete", errs...)
}

func (b blobs) takes(key string) bool { return b.Refuses == nil || !b.Refuses(key) }
