package s3_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

// hiding is a store that lists nothing while its first batch of deletions is open, which takes 200 of 300 keys in the end.
type hiding struct {
	*service
	silent  bool // the batch ends for its client without an answer, and stays open
	batches atomic.Int32
	open    atomic.Bool
	begun   chan struct{} // closed when the batch is open
	end     func()        // lets it end
	ending  chan struct{} // closed by that
	ended   chan struct{} // closed then
}

func hidingStore(t *testing.T) *hiding {
	t.Helper()
	server, v := serviceOn(t)
	h := &hiding{service: v, begun: make(chan struct{}), ending: make(chan struct{}), ended: make(chan struct{})}
	h.end = sync.OnceFunc(func() { close(h.ending) })
	t.Cleanup(h.end)
	for i := range 300 {
		server.Put("assets", fmt.Sprintf("a/el-1/%03d", i), "12")
	}
	server.Meddle = h.meddle
	server.Refuse = func(_, key, _ string) (code string) {
		if h.open.Load() && key >= "a/el-1/200" {
			code = "InternalError"
		}
		return code
	}
	server.Spoil = func(r s3test.Request, _ s3test.Answer) *s3test.Answer {
		if r.Operation == "DeleteObjects" && h.open.CompareAndSwap(true, false) {
			close(h.ended)
		}
		return nil
	}
	return h
}

func (h *hiding) meddle(r s3test.Request) *s3test.Answer {
	switch {
	case r.Operation == "DeleteObjects" && h.batches.Add(1) == 1:
		h.open.Store(true)
		close(h.begun)
		if !h.silent {
			<-h.ending
			return nil
		}
		return &s3test.Answer{Status: 200, Cut: true}
	case r.Operation == "DeleteObjects" && h.open.Load():
		return &s3test.Answer{Status: 200, Cut: true}
	case r.Operation == "ListObjectVersions" && h.open.Load():
		return &s3test.Answer{Status: 200, Body: "<ListVersionsResult><IsTruncated>false</IsTruncated></ListVersionsResult>"}
	}
	return nil
}

// deliver gives the command to a worker of its own.
func (h *hiding) deliver(ctx context.Context, attempt int) error {
	return handle(ctx, asset.NewEraser(h.config), "file", "el-1", attempt)
}

// unproven wants the next delivery to come again later, and nothing to be reported.
func (h *hiding) unproven(what string, attempt int) {
	h.t.Helper()
	if err := h.deliver(h.t.Context(), attempt); err == nil || asset.AsBlocked(err) != nil {
		h.t.Fatalf("%s: %v, want a fault that may pass", what, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, report := range h.reports {
		if _, ok := report.(*events.AssetErased); ok {
			h.t.Fatalf("%s: reported as erased", what)
		}
	}
}

// ends wants the next delivery to end the erasure, once enough time has passed.
func (h *hiding) ends(attempt int) {
	h.t.Helper()
	h.server.Later(aWhile)
	if err := h.deliver(h.t.Context(), attempt); err != nil {
		h.t.Fatal(err)
	}
	objects, bytes := h.reported("el-1")
	h.counts("each once", objects, bytes, 300, 600)
	h.stored()
}

// H-43: a second worker lists nothing, for the batch of the first is open.
func TestNothingListedBesideAnOpenBatchOfAnotherIsNoProof(t *testing.T) {
	h := hidingStore(t)
	first := make(chan error, 1)
	go func() { first <- h.deliver(t.Context(), 1) }()
	<-h.begun
	h.unproven("while the batch is open", 2)
	h.end()
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	h.ends(3)
}

// H-43: the same, and the first worker is gone before its batch ends.
func TestNothingListedBesideAnOpenBatchOfTheDeadIsNoProof(t *testing.T) {
	h := hidingStore(t)
	ctx, die := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { first <- h.deliver(ctx, 1) }()
	<-h.begun
	die()
	if err := <-first; err == nil {
		t.Fatal("the first worker did not die")
	}
	h.unproven("while the batch is open", 2)
	h.end()
	<-h.ended
	h.ends(3)
}

// H-43: a single worker has no answer to its own batch, and lists nothing.
func TestNothingListedAfterABatchWithoutAnAnswerIsNoProof(t *testing.T) {
	h := hidingStore(t)
	h.silent = true
	h.unproven("without an answer", 1)
	h.unproven("while the batch is open", 2)
	h.open.Store(false)
	h.ends(3)
}
