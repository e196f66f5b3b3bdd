package fault_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/sagatest"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/asset/storetest"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/graphtest"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

// quiet is a process without faults.
func quiet() *fault.Process { return fault.NewProcess("quiet", &fault.Plan{}) }

// TestWithoutFaultsAWrapperIsThePort holds each wrapper to the contract of its port.
func TestWithoutFaultsAWrapperIsThePort(t *testing.T) {
	t.Run("documents", func(t *testing.T) {
		storetest.TestDocuments(t, func(*testing.T) storetest.DocumentStore {
			inner := memory.NewDocuments(&memory.Probe{})
			return storetest.DocumentStore{Documents: fault.NewDocuments(quiet(), inner),
				Adopt: func(_ *testing.T, ref asset.DocumentRef, body map[string]any) { inner.Adopt(ref, body) }}
		})
	})
	t.Run("blobs", func(t *testing.T) { storetest.TestBlobs(t, blobStore) })
	t.Run("ledger", func(t *testing.T) {
		storetest.TestLedger(t, func(*testing.T) asset.Ledger { return fault.NewLedger(quiet(), memory.NewLedger(&memory.Probe{})) })
	})
	t.Run("bus", func(t *testing.T) {
		sagatest.TestBus(t, func(_ *testing.T, ackWait time.Duration) sagatest.BusUnderTest {
			p, names := quiet(), events.Names{Namespace: "faults"}
			b := sagatest.NewBus(sagatest.BusConfig{Names: names, AckWait: ackWait})
			return sagatest.BusUnderTest{Names: names, Publisher: fault.NewPublisher(p, b),
				Commands: fault.NewSubscriber(p, "commands", b.Commands()), Reports: fault.NewSubscriber(p, "reports", b.Reports()),
				Messages: func(_ context.Context, stream string) ([]saga.Message, error) { return b.Messages(stream), nil }}
		})
	})
	t.Run("graph", func(t *testing.T) {
		graphtest.Run(t, func(t *testing.T) dependency.Graph {
			g, err := sqlite.Open(filepath.Join(t.TempDir(), "graph.db"))
			if err != nil {
				t.Fatal(err)
			}
			wrapped := fault.NewGraph(quiet(), g)
			if err := wrapped.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			return wrapped
		})
	})
}

func blobStore(*testing.T) storetest.BlobStore {
	inner := memory.NewBlobs(&memory.Probe{})
	buckets := 0
	return storetest.BlobStore{
		Blobs: fault.NewBlobs(quiet(), inner),
		NewBucket: func(_ *testing.T, versioning string) string {
			buckets++
			name := "bucket" + string(rune('a'+buckets))
			inner.CreateBucket(name, versioning)
			return name
		},
		Suspend:       func(_ *testing.T, bucket string) { inner.CreateBucket(bucket, memory.Suspended) },
		BeginUpload:   func(_ *testing.T, bucket, key string) string { return inner.BeginUpload(bucket, key) },
		DeleteCurrent: func(_ *testing.T, bucket, key string) { inner.DeleteCurrent(bucket, key) },
		Locked: func(t *testing.T) (string, string) {
			inner.CreateBucket("locked", memory.Enabled)
			if err := inner.Put(t.Context(), "locked", "kept", strings.NewReader(""), 0); err != nil {
				t.Fatal(err)
			}
			inner.Lock("locked", "kept", time.Now().Add(time.Hour))
			return "locked", "kept"
		},
	}
}
