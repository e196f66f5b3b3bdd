package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/asset/storetest"
)

func TestDocuments(t *testing.T) {
	storetest.TestDocuments(t, func(*testing.T) storetest.DocumentStore {
		documents := memory.NewDocuments(&memory.Probe{})
		return storetest.DocumentStore{
			Documents: documents,
			Adopt:     func(_ *testing.T, ref asset.DocumentRef, body map[string]any) { documents.Adopt(ref, body) },
		}
	})
}

func TestLedger(t *testing.T) {
	storetest.TestLedger(t, func(*testing.T) asset.Ledger { return memory.NewLedger(&memory.Probe{}) })
}

func TestBlobs(t *testing.T) {
	storetest.TestBlobs(t, func(*testing.T) storetest.BlobStore {
		blobs := memory.NewBlobs(&memory.Probe{})
		buckets := 0
		return storetest.BlobStore{
			Blobs: blobs,
			NewBucket: func(_ *testing.T, versioning string) string {
				buckets++
				name := "bucket" + string(rune('a'+buckets))
				blobs.CreateBucket(name, versioning)
				return name
			},
			Suspend:       func(_ *testing.T, bucket string) { blobs.CreateBucket(bucket, memory.Suspended) },
			BeginUpload:   func(_ *testing.T, bucket, key string) string { return blobs.BeginUpload(bucket, key) },
			DeleteCurrent: func(_ *testing.T, bucket, key string) { blobs.DeleteCurrent(bucket, key) },
			Locked: func(t *testing.T) (string, string) {
				blobs.CreateBucket("locked", memory.Enabled)
				if err := blobs.Put(t.Context(), "locked", "kept", strings.NewReader(""), 0); err != nil {
					t.Fatal(err)
				}
				blobs.Lock("locked", "kept", time.Now().Add(time.Hour))
				return "locked", "kept"
			},
		}
	})
}
