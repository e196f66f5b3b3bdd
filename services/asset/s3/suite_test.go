package s3_test

import (
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/devstack/devtest"
	"github.com/tombstone-project/tombstone/services/asset/s3"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
	"github.com/tombstone-project/tombstone/services/asset/storetest"
)

// oddStores are the ways of stores that the real ones of our tests do not have.
//
// H-26, H-30: checksums, pages and their markers.
var oddStores = map[string]s3test.Quirks{
	"by the book":                        {},
	"small pages":                        {PageSize: 3},
	"borders of pages repeated":          {PageSize: 3, RepeatsAtBorders: true},
	"cut listings without a marker":      {PageSize: 50, DropsMarkers: true},
	"markers of what is deleted lost":    {PageSize: 3, LosesMarkers: true},
	"upload ids in markers refused":      {PageSize: 50, RefusesUploadIDs: true},
	"keys never encoded":                 {NoEncoding: true},
	"Content-MD5 and no other checksums": {WantsMD5: true},
}

func TestBlobsOnOddStores(t *testing.T) {
	for name, quirks := range oddStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.TestBlobs(t, func(t *testing.T) storetest.BlobStore { return oddStore(t, quirks) })
		})
	}
}

func oddStore(t *testing.T, quirks s3test.Quirks) storetest.BlobStore {
	t.Helper()
	server := s3test.Start(t)
	server.Quirks = quirks
	return storetest.BlobStore{
		Blobs: openOn(t, server),
		NewBucket: func(_ *testing.T, versioning string) string {
			name := devtest.Name("b-")
			server.CreateBucket(name, versioning)
			return name
		},
		Suspend:       func(_ *testing.T, bucket string) { server.CreateBucket(bucket, s3test.Suspended) },
		BeginUpload:   func(_ *testing.T, bucket, key string) string { return server.BeginUpload(bucket, key) },
		DeleteCurrent: func(_ *testing.T, bucket, key string) { server.DeleteCurrent(bucket, key) },
		Locked: func(*testing.T) (bucket, key string) {
			server.CreateBucket("locked", s3test.Enabled)
			server.EnableLock("locked")
			server.Put("locked", "kept", "x")
			server.Retain("locked", "kept", "COMPLIANCE", time.Now().Add(time.Hour))
			return "locked", "kept"
		},
		Refuses: func(key string) bool { return quirks.NoEncoding && !printable(key) },
	}
}

func openOn(t *testing.T, server *s3test.Server) *s3.Store {
	t.Helper()
	return open(t, s3.Config{Endpoint: server.URL, Region: "eu-central-1", AccessKey: "a", SecretKey: "s", Backoff: 20 * time.Millisecond})
}

func printable(key string) bool {
	for _, r := range key {
		if r < ' ' || r == '\x7f' {
			return false
		}
	}
	return true
}
