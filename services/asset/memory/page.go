package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Page gives some versions of one place, by key and then by id from the last one down. A mark is the key and id of the last
// version of its page.
func (b *Blobs) Page(ctx context.Context, place asset.Place, mark string, limit int) (versions []asset.Version, next string, err error) {
	var refused error
	err = b.probe.around(ctx, Call{Store: "blobs", Method: "Page", Bucket: place.Bucket, Size: 1}, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		versions, next, refused = b.page(place, mark, limit)
	})
	if err == nil {
		err = refused
	}
	return versions, next, err
}

func (b *Blobs) page(place asset.Place, mark string, limit int) (versions []asset.Version, next string, err error) {
	if err := place.CheckShelf(); err != nil {
		return nil, "", err
	}
	all, err := b.find(place)
	if err != nil {
		return nil, "", err
	}
	inOrder := func(x, y asset.Version) int { return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(y.ID, x.ID)) }
	slices.SortFunc(all, inOrder)
	if mark != "" {
		var last asset.Version
		if err := json.Unmarshal([]byte(mark), &last); err != nil {
			return nil, "", fmt.Errorf("read the mark: %w", err)
		}
		all = slices.DeleteFunc(all, func(v asset.Version) bool { return inOrder(v, last) <= 0 })
	}
	if len(all) <= limit {
		return all, "", nil
	}
	versions = all[:limit]
	text, err := json.Marshal(versions[limit-1])
	return versions, string(text), err
}
