package memory

import (
	"fmt"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
)

// The calls below are what other users and administrators of an object store do. They do not pass the probe.

// CreateBucket makes an empty bucket, or changes how one keeps versions.
func (b *Blobs) CreateBucket(name, versioning string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buckets[name] == nil {
		b.buckets[name] = &bucket{locked: map[string]time.Time{}}
	}
	b.buckets[name].versioning = versioning
}

// Block puts an obstacle before every call of a bucket; nil takes it away.
func (b *Blobs) Block(name string, obstacle *asset.Blocked) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buckets[name].obstacle = obstacle
}

// Lock keeps the versions of a key from being deleted, and says until when.
func (b *Blobs) Lock(name, key string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buckets[name].locked[key] = until
}

// Unlock lifts a lock.
func (b *Blobs) Unlock(name, key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.buckets[name].locked, key)
}

// BeginUpload leaves an unfinished upload and gives its id.
func (b *Blobs) BeginUpload(name, key string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := b.id()
	found := b.buckets[name]
	found.entries = append(found.entries, entry{Version: asset.Version{Key: key, ID: id, Upload: true, Modified: time.Now().UTC()}})
	return id
}

// DeleteCurrent deletes by key alone: where versions are kept it leaves a marker.
func (b *Blobs) DeleteCurrent(name, key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.buckets[name]
	if found.versioning == Off {
		found.entries = slices.DeleteFunc(found.entries, func(e entry) bool { return e.Key == key && !e.Upload })
		return
	}
	found.put(entry{Version: asset.Version{Key: key, ID: b.id(), Marker: true, Modified: time.Now().UTC()}})
}

// Snapshot tells everything that is stored, for comparisons: a name of each version, and its content.
func (b *Blobs) Snapshot() map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]string{}
	for name, bucket := range b.buckets {
		for _, e := range bucket.entries {
			all[fmt.Sprintf("%s %+v", name, identity(e.Version))] = fmt.Sprint(e.Marker, " ", e.content)
		}
	}
	return all
}
