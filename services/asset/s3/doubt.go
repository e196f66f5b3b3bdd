package s3

import (
	"context"

	"github.com/tombstone-project/tombstone/services/asset"
)

// lookForDoubtful looks whether versions are still there of which the store made an error where it should have said that
// they are gone: versitygw calls the id of a version that was deleted before invalid, or fails on its file.
func (d *deletion) lookForDoubtful(ctx context.Context) {
	doubtful := d.doubtful[:min(len(d.doubtful), maxProbes)]
	places := make([]asset.Place, len(doubtful))
	for n, i := range doubtful {
		places[n] = asset.Place{Bucket: d.bucket, Key: d.versions[i].Key}
	}
	listings, errs := d.store.List(ctx, places, maxBatch)
	for n, i := range doubtful {
		if errs[n] == nil && !listings[n].More && !lists(listings[n], d.versions[i]) {
			d.errs[i] = nil
		}
	}
}

func lists(l asset.Listing, v asset.Version) bool {
	for _, found := range l.Versions {
		if found.Key == v.Key && found.ID == v.ID && found.Upload == v.Upload {
			return true
		}
	}
	return false
}
