package dependency

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"time"

	"github.com/tombstone-project/tombstone/events"
)

// followPage is how many assets one read of a follower covers.
const followPage = 100

// Follow looks into the graph every half second, and at once when this process ends the deletion. Entries of one asset come
// in order; those of different assets may not, but for the one that ends the deletion, which is the last.
func (s *Service) Follow(ctx context.Context, id string, each func(AuditItem) error) error {
	by, err := caller(ctx)
	if err != nil {
		return err
	}
	woken, leave := s.waiting.join(id)
	defer leave()
	f := follower{s: s, by: by, deletion: id, seen: map[string]followed{}, seed: maphash.MakeSeed(), each: each}
	for {
		began := time.Now()
		if ended, err := f.look(ctx); ended || err != nil {
			return err
		}
		// A deletion of many assets takes long to look at: at most a tenth of the time goes into that.
		pause := time.NewTimer(max(recheckWait, 9*time.Since(began)))
		select {
		case <-woken:
		case <-pause.C:
		case <-ctx.Done():
		}
		pause.Stop()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// follower remembers how far it has told of each asset.
type follower struct {
	s        *Service
	by       Caller
	deletion string
	seen     map[string]followed
	seed     maphash.Seed
	each     func(AuditItem) error
}

// followed is how far one asset's trail was told, and a fingerprint of its erasure then: while that stays, so does the trail.
type followed struct {
	sequence int64
	state    uint64
}

// look tells what is new, page by page, and whether the deletion has ended. No page is told before its read is over.
func (f *follower) look(ctx context.Context) (ended bool, err error) {
	var end *AuditItem
	for after := -1; ; {
		var found []Entry
		var list []Erasure
		err := f.s.graph.View(ctx, func(tx Tx) (err error) {
			list, found, err = f.read(ctx, tx, after)
			return err
		})
		if err != nil {
			return false, err
		}
		for _, e := range found {
			item := auditItem(e)
			if e.Type == events.TypeDeletionCompleted || e.Type == events.TypeDeletionCancelled {
				end = &item
				continue
			}
			if err := f.each(item); err != nil {
				return false, err
			}
		}
		f.note(list, found)
		if len(list) < followPage {
			break
		}
		after = list[len(list)-1].Position
	}
	if end == nil {
		return false, nil
	}
	return true, f.each(*end)
}

// read gives a page of the deletion's assets and their new entries. An erasure is read before its trail, so that an entry
// that is missed is found at the next look.
func (f *follower) read(ctx context.Context, tx Tx, after int) ([]Erasure, []Entry, error) {
	d, err := visibleDeletion(ctx, tx, f.by, f.deletion)
	if err != nil {
		return nil, nil, err
	}
	list, err := tx.ListErasures(ctx, d.ID, after, followPage)
	if err != nil {
		return nil, nil, err
	}
	var found []Entry
	for _, e := range list {
		known, ok := f.seen[e.Asset]
		if ok && known.state == f.fingerprint(e) && e.Asset != d.Root { // the root's trail also tells of the whole
			continue
		}
		entries, err := f.entries(ctx, tx, e.Asset, known.sequence)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, entries...)
	}
	return list, found, nil
}

// entries are those of this deletion in one asset's trail after a sequence.
func (f *follower) entries(ctx context.Context, tx Tx, asset string, after int64) (own []Entry, err error) {
	for {
		entries, err := tx.Trail(ctx, asset, after, maxLimit)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if after = e.Sequence; e.Deletion == f.deletion {
				own = append(own, e)
			}
		}
		if len(entries) < maxLimit {
			return own, nil
		}
	}
}

func (f *follower) note(list []Erasure, found []Entry) {
	for _, e := range list {
		f.seen[e.Asset] = followed{sequence: f.seen[e.Asset].sequence, state: f.fingerprint(e)}
	}
	for _, e := range found {
		f.seen[e.Asset] = followed{sequence: e.Sequence, state: f.seen[e.Asset].state}
	}
}

// fingerprint changes with everything that the trail of an erasure tells.
func (f *follower) fingerprint(e Erasure) uint64 {
	state, err := json.Marshal(struct {
		Done  bool
		Steps []Step
	}{e.Done, e.Steps})
	if err != nil { // a struct of strings, numbers and times always encodes
		panic(err)
	}
	return maphash.Bytes(f.seed, state)
}
