package s3_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

// some and many are how many objects a large asset has.
const some, many = 12_000, 250_000

func fill(server *s3test.Server, id string, n int) {
	for i := range n {
		server.Put("assets", fmt.Sprintf("a/%s/%06d", id, i), "12")
	}
}

// TestALargeAssetIsErasedInPagesAndGoesOnAfterACrash kills the work in its middle, between two pages.
func TestALargeAssetIsErasedInPagesAndGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	server, v := serviceOn(t)
	n := many
	if testing.Short() {
		n = some
	}
	fill(server, "large", n)
	batches := n / 1000
	ctx, crash := context.WithCancel(t.Context())
	server.Meddle = func(r s3test.Request) *s3test.Answer {
		if r.Operation == "DeleteObjects" && len(server.Requests("DeleteObjects")) == batches/2 {
			crash()
		}
		return nil
	}
	if err := v.eraseWithin(ctx, "file", "large", 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("killed in the middle: %v", err)
	}
	server.Meddle = nil
	left := len(server.Stored("assets"))
	if left == 0 || left == n {
		t.Fatalf("%d of %d objects are left after the crash", left, n)
	}
	objects, bytes := v.erased("large")
	v.counts("each once", objects, bytes, int64(n), int64(2*n))
	v.stored()
	requests := server.Requests("DeleteObjects")
	if len(requests) > batches+1 {
		t.Errorf("%d batches for %d objects, so some were sent again", len(requests), n)
	}
	for _, r := range requests {
		if keys := strings.Count(r.Body, "<Object>"); keys > 1000 {
			t.Errorf("a batch of %d", keys)
		}
	}
	if listings := len(server.Requests("ListObjectVersions")); listings > batches+12 {
		t.Errorf("%d listings for %d pages", listings, batches)
	}
}

// TestSmallAssetsAreErasedBesideALargeOne begins them when the large one is in hand, and lets that one wait for them before its
// end.
func TestSmallAssetsAreErasedBesideALargeOne(t *testing.T) {
	t.Parallel()
	server, v := serviceOn(t)
	fill(server, "large", some)
	const small = 50
	for i := range small {
		server.Put("assets", fmt.Sprintf("a/small-%d/1", i), "1")
	}
	begun, smallDone := make(chan struct{}), make(chan struct{})
	var batches atomic.Int32
	server.Meddle = func(r s3test.Request) *s3test.Answer {
		if r.Operation == "DeleteObjects" && strings.Contains(r.Body, "a/large/") {
			switch batches.Add(1) {
			case 2:
				close(begun)
			case some/1000 - 1:
				<-smallDone // for ever, if the small ones wait for the large one
			}
		}
		return nil
	}
	eraser := asset.NewEraser(v.config)
	large := make(chan error, 1)
	go func() { large <- handle(t.Context(), eraser, "file", "large", 1) }()
	<-begun
	failed := make(chan error, small)
	for i := range small {
		go func() { failed <- handle(t.Context(), eraser, "file", fmt.Sprintf("small-%d", i), 1) }()
	}
	for range small {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	close(smallDone)
	if err := <-large; err != nil {
		t.Error(err)
	}
	v.stored()
}
