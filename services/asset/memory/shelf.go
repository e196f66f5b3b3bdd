package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Page lists a collection in order of keys; the mark is the last key seen.
func (d *Documents) Page(ctx context.Context, shelf asset.DocumentShelf, mark string, limit int) (kept []asset.KeptDocument, next string, err error) {
	err = d.probe.around(ctx, Call{Store: "documents", Method: "Page", Size: 1}, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for key, doc := range d.byKey {
			if key.collection == shelf.Collection && key.field == cmp.Or(shelf.IDField, "_id") && key.idType == cmp.Or(shelf.IDType, policy.IDString) &&
				(mark == "" || key.id > mark) {
				kept = append(kept, asset.KeptDocument{Key: key.id, Generation: doc.generation})
			}
		}
	})
	slices.SortFunc(kept, func(a, b asset.KeptDocument) int { return cmp.Compare(a.Key, b.Key) })
	if len(kept) > limit {
		kept = kept[:limit]
		next = kept[limit-1].Key
	}
	return kept, next, err
}
