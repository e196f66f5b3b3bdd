package fault

import (
	"context"
	"io"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Blobs wraps asset.Blobs. Ping passes through.
type Blobs struct {
	asset.Blobs
	process *Process
}

// NewBlobs makes the object store as the process sees it.
func NewBlobs(p *Process, inner asset.Blobs) *Blobs { return &Blobs{inner, p} }

// List wraps the looking.
func (b *Blobs) List(ctx context.Context, places []asset.Place, limit int) ([]asset.Listing, []error) {
	listings := make([]asset.Listing, len(places))
	call := Call{Port: "blobs", Method: "List", Items: len(places)}
	if len(places) > 0 {
		call.About = places[0].Bucket + " " + places[0].Prefix + places[0].Key
	}
	errs := b.process.each(ctx, call, func(ctx context.Context, items int) []error {
		seen, errs := b.Blobs.List(ctx, places[:items], limit)
		copy(listings, seen)
		return errs
	})
	return listings, errs
}

// Page wraps the looking at one place, page by page.
func (b *Blobs) Page(ctx context.Context, place asset.Place, mark string, limit int) (versions []asset.Version, next string, err error) {
	call := Call{Port: "blobs", Method: "Page", Items: 1, About: place.Bucket + " " + place.Prefix + place.Key}
	err = b.process.do(ctx, call, func(ctx context.Context, _ int) (err error) {
		versions, next, err = b.Blobs.Page(ctx, place, mark, limit)
		return err
	})
	return versions, next, err
}

// Delete wraps the deleting.
func (b *Blobs) Delete(ctx context.Context, bucket string, versions []asset.Version) []error {
	call := Call{Port: "blobs", Method: "Delete", Items: len(versions), About: bucket}
	if len(versions) > 0 {
		call.About += " " + versions[0].Key
	}
	return b.process.each(ctx, call, func(ctx context.Context, items int) []error {
		return b.Blobs.Delete(ctx, bucket, versions[:items])
	})
}

// Mode wraps the question how a bucket keeps versions.
func (b *Blobs) Mode(ctx context.Context, bucket string) (mode asset.BucketMode, err error) {
	err = b.process.do(ctx, Call{Port: "blobs", Method: "Mode", Items: 1, About: bucket}, func(ctx context.Context, _ int) (err error) {
		mode, err = b.Blobs.Mode(ctx, bucket)
		return err
	})
	return mode, err
}

// Put wraps the writing. A body can be read once, so that a second request sends nothing.
func (b *Blobs) Put(ctx context.Context, bucket, key string, body io.Reader, size int64) error {
	return b.process.do(ctx, Call{Port: "blobs", Method: "Put", Items: 1, About: bucket + " " + key}, func(ctx context.Context, _ int) error {
		return b.Blobs.Put(ctx, bucket, key, body, size)
	})
}
