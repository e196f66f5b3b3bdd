package s3

import (
	"context"
	"slices"
	"strings"
	"sync"
)

const (
	// neighbours is the least number of places that are looked for with one listing.
	neighbours = 6
	// entriesWorth is how many entries of a listing cost about as much as a request. A common listing takes half as many for
	// each place: then it pays if it finds half of the places.
	entriesWorth = 8
)

// listTogether lists the versions of neighbouring places of one bucket with common listings, as far as that pays, and gives
// the places that are left.
//
// Places that begin with the same segment are looked for with one listing of all that begins as all of them do. A place is
// known when the listing has ended, or has passed it. What is not known is tried again in smaller groups, which have more
// in common. No listing begins in the middle, by a marker: a store on files then reads everything before it.
func (s *Store) listTogether(ctx context.Context, bucket string, places []*collector) (left []*collector) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for segment, group := range bySegment(places) {
		all.Go(func() {
			unknown := group
			if segment != "" && len(group) >= neighbours && s.sharing.worthATry(bucket, segment) {
				t := together{store: s, bucket: bucket}
				unknown = t.list(ctx, group)
				s.sharing.learn(bucket, segment, (len(group)-len(unknown))*entriesWorth > t.spent)
			}
			mu.Lock()
			defer mu.Unlock()
			left = append(left, unknown...)
		})
	}
	all.Wait()
	return left
}

// bySegment groups places by their first segment and its slash ("" where there is none). Each group is in order.
func bySegment(places []*collector) map[string][]*collector {
	groups := map[string][]*collector{}
	for _, c := range places {
		begin := prefixOf(c.place)
		segment := begin[:strings.IndexByte(begin, '/')+1]
		groups[segment] = append(groups[segment], c)
	}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b *collector) int { return strings.Compare(prefixOf(a.place), prefixOf(b.place)) })
	}
	return groups
}

// together lists one group of places.
type together struct {
	store  *Store
	bucket string
	spent  int // on requests and entries, counted as entries
}

// list looks for places that are in order, and gives those that it does not know in the end.
func (t *together) list(ctx context.Context, places []*collector) (unknown []*collector) {
	if len(places) < neighbours || prefixOf(places[0].place) == prefixOf(places[len(places)-1].place) { // the latter: all are one and the same
		return places
	}
	p, err := t.store.page(ctx, t.bucket, commonPrefix(places), len(places)*entriesWorth/2)
	t.spent += entriesWorth + len(p.entries)
	if err != nil {
		return places // each of them meets the error, or not
	}
	unknown = slices.DeleteFunc(slices.Clone(places), p.covers)
	groups := byNext(unknown, len(common(places)))
	unknown = unknown[:0:0]
	for _, group := range groups {
		unknown = append(unknown, t.list(ctx, group)...)
	}
	return unknown
}

// byNext divides places in order by the byte that comes after the first n, which they have in common.
func byNext(places []*collector, n int) (groups [][]*collector) {
	next := func(c *collector) string {
		begin := prefixOf(c.place)
		return begin[n:min(n+1, len(begin))]
	}
	for i, c := range places {
		if i == 0 || next(c) != next(places[i-1]) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], c)
	}
	return groups
}
