package memory

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Blobs is an object store in memory, with versions, delete markers and unfinished uploads.
type Blobs struct {
	probe   *Probe
	mu      sync.Mutex
	buckets map[string]*bucket
	ids     int
}

type bucket struct {
	versioning string
	entries    []entry // oldest first
	obstacle   *asset.Blocked
	locked     map[string]time.Time // by key: until when
}

type entry struct {
	asset.Version
	content string
}

// The ways in which a bucket keeps versions, as asset.BucketMode tells them.
const (
	Enabled   = "enabled"
	Suspended = "suspended"
	Off       = "off"
)

// null is the version id in a bucket that keeps none.
const null = "null"

// NewBlobs makes a store without buckets that shows its calls to the probe.
func NewBlobs(probe *Probe) *Blobs { return &Blobs{probe: probe, buckets: map[string]*bucket{}} }

// bucket gives a bucket that answers, or the obstacle.
func (b *Blobs) bucket(name string) (*bucket, error) {
	found := b.buckets[name]
	if found == nil {
		return nil, &asset.Blocked{Reason: asset.ReasonBucketMissing, Detail: name}
	}
	if found.obstacle != nil {
		return nil, found.obstacle
	}
	return found, nil
}

// List looks at each place.
func (b *Blobs) List(ctx context.Context, places []asset.Place, limit int) ([]asset.Listing, []error) {
	listings, errs := make([]asset.Listing, len(places)), make([]error, len(places))
	call := Call{Store: "blobs", Method: "List", Bucket: sharedBucket(places), Size: len(places)}
	err := b.probe.around(ctx, call, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for i, place := range places {
			listings[i], errs[i] = b.look(place, limit)
		}
	})
	if err != nil {
		return make([]asset.Listing, len(places)), fill(len(places), err)
	}
	return listings, errs
}

func sharedBucket(places []asset.Place) string {
	for _, place := range places {
		if place.Bucket != places[0].Bucket {
			return ""
		}
	}
	if len(places) == 0 {
		return ""
	}
	return places[0].Bucket
}

// look lists one place in order of key, the newest version of each first.
func (b *Blobs) look(place asset.Place, limit int) (asset.Listing, error) {
	if err := place.Check(); err != nil {
		return asset.Listing{}, err
	}
	versions, err := b.find(place)
	if len(versions) > limit {
		return asset.Listing{Versions: versions[:limit], More: true}, nil
	}
	return asset.Listing{Versions: versions}, err
}

// find gives everything at a place or on a shelf.
func (b *Blobs) find(place asset.Place) (versions []asset.Version, err error) {
	found, err := b.bucket(place.Bucket)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(found.entries) {
		if place.Key == "" && strings.HasPrefix(e.Key, place.Prefix) || place.Key != "" && e.Key == place.Key {
			versions = append(versions, e.Version)
		}
	}
	slices.SortStableFunc(versions, func(x, y asset.Version) int { return strings.Compare(x.Key, y.Key) })
	return versions, nil
}

// Delete removes exactly these versions.
func (b *Blobs) Delete(ctx context.Context, name string, versions []asset.Version) []error {
	errs := make([]error, len(versions))
	err := b.probe.around(ctx, Call{Store: "blobs", Method: "Delete", Bucket: name, Size: len(versions)}, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		found, err := b.bucket(name)
		if err != nil {
			errs = fill(len(versions), err)
			return
		}
		gone := map[asset.Version]bool{}
		for i, v := range versions {
			if errs[i] = found.refusal(v); errs[i] == nil {
				gone[identity(v)] = true
			}
		}
		found.entries = slices.DeleteFunc(found.entries, func(e entry) bool { return gone[identity(e.Version)] })
	})
	if err != nil {
		return fill(len(versions), err)
	}
	return errs
}

// identity is what a version is deleted by.
func identity(v asset.Version) asset.Version {
	if v.ID == "" {
		v.ID = null
	}
	return asset.Version{Key: v.Key, ID: v.ID, Upload: v.Upload}
}

// refusal says why a version must not or cannot be deleted.
func (b *bucket) refusal(v asset.Version) error {
	until, locked := b.locked[v.Key]
	switch {
	case v.Key == "":
		return asset.ErrEmptyKey
	case v.ID == "" && b.versioning != Off:
		return asset.ErrNoVersion
	case locked && !v.Upload && !v.Marker:
		return &asset.Blocked{Reason: asset.ReasonObjectLocked, Detail: v.Key, Until: until}
	}
	return nil
}

// Mode tells how the bucket keeps versions.
func (b *Blobs) Mode(ctx context.Context, name string) (mode asset.BucketMode, err error) {
	var refused error
	err = b.probe.around(ctx, Call{Store: "blobs", Method: "Mode", Bucket: name, Size: 1}, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		var found *bucket
		if found, refused = b.bucket(name); refused == nil {
			mode = asset.BucketMode{Versioning: found.versioning, ObjectLock: len(found.locked) > 0}
		}
	})
	if err == nil {
		err = refused
	}
	return mode, err
}

// Put writes one object.
func (b *Blobs) Put(ctx context.Context, name, key string, body io.Reader, size int64) error {
	if key == "" {
		return asset.ErrEmptyKey
	}
	content, err := io.ReadAll(body)
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	var refused error
	err = b.probe.around(ctx, Call{Store: "blobs", Method: "Put", Bucket: name, Size: 1}, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		var found *bucket
		if found, refused = b.bucket(name); refused == nil {
			found.put(entry{asset.Version{Key: key, ID: b.id(), Bytes: size, Modified: time.Now().UTC()}, string(content)})
		}
	})
	if err == nil {
		err = refused
	}
	return err
}

// put adds a current version; where versions are not kept it replaces the null version.
func (b *bucket) put(e entry) {
	if b.versioning != Enabled {
		e.ID = null
		b.entries = slices.DeleteFunc(b.entries, func(old entry) bool { return identity(old.Version) == identity(e.Version) })
	}
	b.entries = append(b.entries, e)
}

// id makes a version or upload id.
func (b *Blobs) id() string {
	b.ids++
	return fmt.Sprintf("v%06d", b.ids)
}

// Ping answers.
func (b *Blobs) Ping(ctx context.Context) error {
	return b.probe.around(ctx, Call{Store: "blobs", Method: "Ping"}, func() {})
}
