package s3

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/services/asset"
)

// lanes is how many requests of one call are under way at a time.
const lanes = 16

// List implements asset.Blobs. Versions of neighbours are listed together where that pays, the others place by place, some at
// a time; unfinished uploads, of which a bucket has few, are listed for all places of a bucket at once.
func (s *Store) List(ctx context.Context, places []asset.Place, limit int) ([]asset.Listing, []error) {
	listings, errs := make([]asset.Listing, len(places)), make([]error, len(places))
	found := make([]collector, len(places))
	buckets := map[string][]*collector{}
	for i, p := range places {
		found[i] = collector{place: p, limit: limit}
		if errs[i] = p.Check(); errs[i] == nil {
			buckets[p.Bucket] = append(buckets[p.Bucket], &found[i])
		}
	}
	var all sync.WaitGroup
	for bucket, inBucket := range buckets {
		all.Go(func() { s.listUploads(ctx, bucket, inBucket) })
		all.Go(func() { s.listAll(ctx, bucket, inBucket) })
	}
	all.Wait()
	for i := range found {
		if errs[i] == nil {
			listings[i], errs[i] = found[i].listing()
		}
	}
	return listings, errs
}

// listAll lists the versions of places of one bucket.
func (s *Store) listAll(ctx context.Context, bucket string, places []*collector) {
	var g errgroup.Group
	g.SetLimit(lanes)
	for _, c := range s.listTogether(ctx, bucket, places) {
		g.Go(func() error { s.listVersions(ctx, c); return nil })
	}
	_ = g.Wait() // each place keeps its own error
}

// collector gathers what listings find at one place, each thing once: a store may repeat one at the border of two pages.
// Its two halves are filled at the same time.
type collector struct {
	place             asset.Place
	limit             int
	at                time.Time // when the first answer about its versions came, by the store's clock
	versions, uploads half
}

type half struct {
	found []asset.Version
	seen  map[thing]bool
	more  bool // there is more than was found
	err   error
}

// thing names an entry within its bucket.
type thing struct {
	Key string `json:"k"`
	ID  string `json:"i"`
}

// add takes in a thing that belongs to the place, whatever else the store has listed, up to one more than the limit.
func (c *collector) add(h *half, v asset.Version) {
	t := thing{v.Key, v.ID}
	if h.seen[t] || c.full(h) || !holds(c.place, v.Key) {
		return
	}
	if h.seen == nil {
		h.seen = map[thing]bool{}
	}
	h.seen[t] = true
	h.found = append(h.found, v)
}

// full tells that the rest need not be known: there is more than the limit.
func (c *collector) full(h *half) bool { return len(h.found) > c.limit }

// listing puts both halves together.
func (c *collector) listing() (asset.Listing, error) {
	for _, err := range []error{c.versions.err, c.uploads.err} {
		if err != nil {
			return asset.Listing{}, err
		}
	}
	all := append(c.versions.found, c.uploads.found...)
	more := c.versions.more || c.uploads.more
	if len(all) > c.limit {
		all, more = all[:c.limit], true
	}
	return asset.Listing{Versions: all, More: more, At: c.at}, nil
}
