package asset

import (
	"context"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/batch"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga"
)

// pageSize is how many objects of one part are in hand at a time: what one call of an object store deletes, and what one
// page of the ledger holds.
const pageSize = 1000

// Sizes of the batches, and how many of each may run side by side. Two lanes let one call travel while the next gathers;
// more would leave little in each.
const (
	smallBatch = 250 // questions, messages, heads: items of some hundred bytes, written one by one
	listBatch  = 250 // places: the more, the more are neighbours; all must fit into the time of a call
	bulkBatch  = 1000
	lanes      = 2
)

// bulkCall is a call of a port: one value and one error for each item.
type bulkCall[Q, R any] func(ctx context.Context, items []Q) ([]R, []error)

// answered is what a bulk call says of one item.
type answered[R any] struct {
	value R
	err   error
}

type group[Q, R any] = batch.Group[Q, answered[R]]

// stores offers the bulk ports one item at a time: while a call is under way, the items of many assets gather for the next
// (DESIGN section 4). Each bucket and each collection has groups of its own, so that one that hangs stops nobody else.
type stores struct {
	documents Documents
	ledger    Ledger
	timeout   time.Duration // of one call of a store; waiting for it to begin does not count

	exists  map[string]*group[DocumentRef, bool]     // by collection
	deletes map[string]*group[DocumentRef, struct{}] // by collection
	lists   map[string]*group[Place, Listing]        // by bucket
	erases  map[string]*group[Version, struct{}]     // by bucket
	opens   *group[Head, Entry]
	dones   *group[Record, events.PartEvidence]
	asks    *group[events.Question, events.Answer]
	sends   *group[saga.Message, struct{}]
}

func newStores(c Config) *stores {
	s := &stores{
		documents: c.Documents, ledger: c.Ledger, timeout: c.CallTimeout,
		exists: map[string]*group[DocumentRef, bool]{}, deletes: map[string]*group[DocumentRef, struct{}]{},
		lists: map[string]*group[Place, Listing]{}, erases: map[string]*group[Version, struct{}]{},
		opens: gather(smallBatch, lanes, c.CallTimeout, c.Ledger.Open),
		dones: gather(smallBatch, lanes, c.CallTimeout, c.Ledger.Done),
		asks:  gather(smallBatch, lanes, c.CallTimeout, asking(c.Gate)),
		sends: gather(smallBatch, lanes, c.CallTimeout, valueless(c.Publisher.Publish)),
	}
	for _, collection := range c.Policy.Collections() {
		s.exists[collection] = gather(bulkBatch, lanes, c.CallTimeout, c.Documents.Exists)
		s.deletes[collection] = gather(bulkBatch, lanes, c.CallTimeout, valueless(c.Documents.Delete))
	}
	for _, bucket := range c.Policy.Buckets() {
		s.addBucket(c, bucket)
	}
	return s
}

func (s *stores) addBucket(c Config, bucket string) {
	b := &breaker{bucket: bucket, rest: c.CallTimeout, now: c.Now}
	list := func(ctx context.Context, places []Place) ([]Listing, []error) {
		return c.Blobs.List(ctx, places, pageSize)
	}
	erase := func(ctx context.Context, versions []Version) []error { return c.Blobs.Delete(ctx, bucket, versions) }
	s.lists[bucket] = gather(listBatch, lanes, c.CallTimeout, guarded(b, list))
	s.erases[bucket] = gather(pageSize, lanes, c.CallTimeout, guarded(b, valueless(erase)))
}

// gather makes group commits of a bulk call, each bounded by the timeout.
func gather[Q, R any](max, lanes int, timeout time.Duration, call bulkCall[Q, R]) *group[Q, R] {
	return batch.New(max, lanes, func(ctx context.Context, items []Q) ([]answered[R], error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		values, errs := call(ctx, items)
		out := make([]answered[R], len(items))
		for i := range out {
			out[i] = answered[R]{values[i], errs[i]}
		}
		return out, nil
	})
}

// valueless is a bulk call that tells only what failed.
func valueless[Q any](call func(context.Context, []Q) []error) bulkCall[Q, struct{}] {
	return func(ctx context.Context, items []Q) ([]struct{}, []error) {
		return make([]struct{}, len(items)), call(ctx, items)
	}
}

// asking is the gate as a bulk call: without an answer, nobody has one.
func asking(gate Gate) bulkCall[events.Question, events.Answer] {
	return func(ctx context.Context, questions []events.Question) ([]events.Answer, []error) {
		answers, err := gate.Current(ctx, questions)
		if err != nil {
			return make([]events.Answer, len(questions)), repeated(err, len(questions))
		}
		return answers, make([]error, len(questions))
	}
}

// one sends one item with whatever gathers, and gives its own answer.
func one[Q, R any](ctx context.Context, g *group[Q, R], item Q) (R, error) {
	answer, err := g.Do(ctx, item)
	if err != nil {
		return answer.value, err
	}
	return answer.value, answer.err
}

func (s *stores) documentExists(ctx context.Context, ref DocumentRef) (bool, error) {
	return one(ctx, s.exists[ref.Collection], ref)
}

func (s *stores) deleteDocument(ctx context.Context, ref DocumentRef) error {
	_, err := one(ctx, s.deletes[ref.Collection], ref)
	return err
}

func (s *stores) list(ctx context.Context, place Place) (Listing, error) {
	return one(ctx, s.lists[place.Bucket], place)
}

// deleteObjects deletes exactly these versions of one bucket; they travel together.
func (s *stores) deleteObjects(ctx context.Context, bucket string, versions []Version) []error {
	answers, errs := s.erases[bucket].DoAll(ctx, versions)
	for i, answer := range answers {
		if errs[i] == nil {
			errs[i] = answer.err
		}
	}
	return errs
}

func (s *stores) open(ctx context.Context, head Head) (Entry, error) { return one(ctx, s.opens, head) }

func (s *stores) done(ctx context.Context, record Record) (events.PartEvidence, error) {
	return one(ctx, s.dones, record)
}

func (s *stores) ask(ctx context.Context, q events.Question) (events.Answer, error) {
	return one(ctx, s.asks, q)
}

func (s *stores) send(ctx context.Context, m saga.Message) error {
	_, err := one(ctx, s.sends, m)
	return err
}

// page and totals are rare (large and interrupted erasures), so they go alone.
func (s *stores) page(ctx context.Context, key LedgerKey, number int, inventory Inventory) (fresh bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.ledger.Page(ctx, key, number, inventory)
}

func (s *stores) totals(ctx context.Context, key LedgerKey) (Inventory, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.ledger.Totals(ctx, key)
}

// otherType is asked for few keys, so it goes alone.
func (s *stores) otherType(ctx context.Context, ref DocumentRef) (policy.IDType, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.documents.OtherType(ctx, ref)
}

// each calls f for 0 … n-1 at once and waits for all, so that what they ask of a store shares its calls.
func each(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}
