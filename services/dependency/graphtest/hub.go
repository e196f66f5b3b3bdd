package graphtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// testHub deletes many assets around one dense node at once. All are accepted and completed, whatever deadlocks that
// meets, and the node keeps exactly its other links. H-19.
func testHub(t *testing.T, g dependency.Graph) {
	const sources, gone = 300, 80
	r := newRules(t, g)
	name := func(i int) string { return fmt.Sprintf("hub-%03d", i) }
	r.must(func(ctx context.Context) error {
		if _, _, err := r.PutAsset(ctx, "hub", dependency.Put{Kind: "bare"}); err != nil {
			return err
		}
		links := []dependency.LinkTo{{Type: "REFERENCES", To: "hub"}}
		return sideBySide(sources, func(i int) error {
			_, _, err := r.PutAsset(ctx, name(i), dependency.Put{Kind: "bare", Links: &links})
			return err
		})
	})
	r.must(func(ctx context.Context) error {
		return sideBySide(gone, func(i int) error {
			d, err := r.Delete(ctx, name(i), dependency.DeleteRequest{})
			if err != nil {
				return err
			}
			return r.completed(ctx, d)
		})
	})
	left := map[string]bool{}
	r.must(func(ctx context.Context) error {
		for cursor := ""; ; {
			page, err := r.Dependants(ctx, "hub", cursor)
			if err != nil {
				return err
			}
			for _, d := range page.Items {
				left[d.ID] = true
			}
			if cursor = page.NextCursor; cursor == "" {
				return nil
			}
		}
	})
	for i := range sources {
		if left[name(i)] != (i >= gone) {
			t.Errorf("%s is linked to the hub: %v", name(i), left[name(i)])
		}
	}
}

// completed reports that the root of a deletion, which has no parts, is gone.
func (r *rules) completed(ctx context.Context, d dependency.Deletion) error {
	a, err := r.Asset(ctx, d.Root)
	if err != nil {
		return err
	}
	payload, err := events.Encode(events.Envelope{ID: newID(), Source: "/tombstone/asset", Type: events.TypeAssetErased, Time: time.Now()},
		events.AssetErased{Deletion: d.ID, Asset: a.ID, Generation: a.Generation, Parts: []events.PartEvidence{}})
	if err != nil {
		return err
	}
	if err := r.HandleReport(ctx, saga.Message{Data: payload}, 1); err != nil {
		return err
	}
	got, err := r.Deletion(ctx, d.ID, "")
	if err == nil && got.Status != dependency.Deleted {
		err = fmt.Errorf("deletion of %s is %s", a.ID, got.Status)
	}
	return err
}

// sideBySide calls f for 0 … n-1, all at once, and gives one of the errors.
func sideBySide(n int, f func(i int) error) (err error) {
	var once sync.Once
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if e := f(i); e != nil {
				once.Do(func() { err = e })
			}
		})
	}
	all.Wait()
	return err
}
