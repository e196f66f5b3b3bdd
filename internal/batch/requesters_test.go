package batch_test

import (
	"context"
	"testing"

	"github.com/tombstone-project/tombstone/internal/batch"
)

type nameKey struct{}

func named(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// names are those of the requesters.
func names(ctx context.Context) (list []any) {
	for _, r := range batch.Requesters(ctx) {
		list = append(list, r.Value(nameKey{}))
	}
	return list
}

func TestABatchKnowsItsRequestersThroughOtherBatches(t *testing.T) {
	var seen []any
	inner := batch.New(10, 1, func(ctx context.Context, items []int) ([]int, error) {
		seen = append(names(ctx), ctx.Value(nameKey{}))
		return items, nil
	})
	outer := batch.New(10, 1, func(ctx context.Context, items []int) ([]int, error) {
		_, errs := inner.DoAll(ctx, []int{1})
		return items, errs[0]
	})
	_, errs := outer.DoAll(named(t.Context(), "ann"), []int{1, 2})
	if errs[0] != nil || errs[1] != nil {
		t.Fatal(errs)
	}
	if len(seen) != 3 || seen[0] != "ann" || seen[1] != "ann" || seen[2] != nil {
		t.Errorf("requesters, and what the batch itself is named: %v", seen)
	}
	if alone := names(named(t.Context(), "bob")); len(alone) != 1 || alone[0] != "bob" {
		t.Errorf("outside of a batch: %v", alone)
	}
}
