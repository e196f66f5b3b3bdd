package batch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/batch"
)

func TestRequestsGivenTogetherShareBatchesOnAnIdleSystem(t *testing.T) {
	g := newGate()
	close(g.free)
	group := batch.New(3, 1, g.run)
	results, errs := group.DoAll(t.Context(), []int{1, 2, 3, 4, 5, 6, 7})
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"1", "2", "3", "4", "5", "6", "7"}, results); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{3, 3, 1}, g.sizes()); diff != "" {
		t.Errorf("batches: %s", diff)
	}
	if results, errs := group.DoAll(t.Context(), nil); len(results)+len(errs) != 0 {
		t.Errorf("nothing asked: %v, %v", results, errs)
	}
}

func TestRequestsGivenTogetherEndWithTheirContext(t *testing.T) {
	g := newGate()
	group := batch.New(2, 1, g.run)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, errs := group.DoAll(ctx, []int{1, 2, 3})
	for i, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("request %d: %v, want %v", i, err, context.Canceled)
		}
	}
	if sizes := g.sizes(); len(sizes) != 0 {
		t.Errorf("batches of %v began for a caller that had given up", sizes)
	}
}
