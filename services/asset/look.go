package asset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

const (
	// patience is how many looks in a row may find everything as it was before the part is given back.
	patience = 3
	// maxWhole is how many times something new may appear where everything was deleted: somebody keeps writing there.
	maxWhole = 10
	// lagAttempts is how many deliveries of a command, some 40 seconds, a store has to take from its listings what it said
	// was deleted.
	lagAttempts = 6
)

// errStillListed: the store said of everything that it was deleted, and lists it still. Its listings may lag behind, so the
// command comes again later: to delete the same again at once would help nobody.
var errStillListed = errors.New("what was deleted is listed still")

// look looks afresh at all places of a part, documents and objects at once, and keeps what it finds.
func (r *erasure) look(ctx context.Context, p *part) {
	exists, listings := make([]bool, len(p.documents)), make([]Listing, len(p.places))
	errs := make([]error, len(p.documents)+len(p.places))
	p.lookedAt = r.now().UTC().Truncate(time.Millisecond) // stores keep no finer times
	each(len(errs), func(i int) {
		if i < len(p.documents) {
			exists[i], errs[i] = r.stores.documentExists(ctx, p.documents[i])
			return
		}
		i -= len(p.documents)
		listings[i], errs[len(p.documents)+i] = r.stores.list(ctx, p.places[i])
	})
	if err := worst(errs); err != nil {
		p.err = fmt.Errorf("look: %w", err)
		return
	}
	p.before, p.seen, p.listedAt = p.seen, page{}, firstAnswer(p.lookedAt, listings)
	for i, there := range exists {
		if there {
			p.seen.documents = append(p.seen.documents, p.documents[i])
		}
	}
	for i, listing := range listings {
		if p.recheck && !p.fences[i] {
			listing.Versions = slices.DeleteFunc(listing.Versions, exchangeable)
		}
		p.seen.add(p.places[i].Bucket, p.bypass[i], listing)
	}
}

// add takes a listing into the page, as far as there is room.
func (p *page) add(bucket string, bypass bool, listing Listing) {
	p.more = p.more || listing.More
	for _, v := range listing.Versions {
		if len(p.objects) == pageSize {
			p.more = true
			return
		}
		v.GovernanceBypass = bypass
		p.objects = append(p.objects, object{bucket, v})
	}
}

// worst picks the error that decides what becomes of a part: one that may pass soon before an obstacle, so that a part
// does not wait for long because of one obstacle among others; nil when there is none.
func worst(errs []error) error {
	var obstacle error
	for _, err := range errs {
		switch {
		case err == nil:
		case AsBlocked(err) == nil:
			return err
		case obstacle == nil || AsBlocked(err).Until.After(AsBlocked(obstacle).Until):
			obstacle = err
		}
	}
	return obstacle
}

// settle decides after a look: nothing there ends the part; something there goes into the ledger and is deleted next,
// unless deleting it leads nowhere.
func (r *erasure) settle(ctx context.Context, p *part) {
	switch {
	case p.seen.empty():
		if r.believe(ctx, p); p.err == nil && !p.recheck { // what is looked at again had its id as the policy says
			p.err = r.otherTypes(ctx, p)
		}
		if p.err == nil {
			r.finish(ctx, p)
		}
	case r.attempt < lagAttempts && p.lags():
		p.err = errStillListed
	case p.hopeless():
		p.err = p.whyStuck()
	default:
		r.extend(ctx, p, p.before.things())
	}
}

// lags tells whether nothing was found but objects that the store said were deleted.
func (p *part) lags() bool {
	before := p.before.things()
	for _, o := range p.seen.objects {
		if t := o.thing(); !before[t] || p.refused[t] != nil {
			return false
		}
	}
	return len(p.seen.documents) == 0
}

// otherTypes refuses to end a part whose document is there under an id of another type: the policy says where to look, and
// is wrong.
func (r *erasure) otherTypes(ctx context.Context, p *part) error {
	for _, ref := range p.documents {
		if !ref.ambiguous() {
			continue
		}
		found, err := r.stores.otherType(ctx, ref)
		if err != nil {
			return fmt.Errorf("look for ids of another type: %w", err)
		}
		if found != "" {
			return &Blocked{Reason: ReasonDocumentStillPresent, Detail: fmt.Sprintf("collection %s holds %q as %s, and the policy's id_type is %s: correct it",
				ref.Collection, ref.Key, found, cmp.Or(ref.IDType, policy.IDString))}
		}
	}
	return nil
}

// hopeless tells whether another round of deleting would be in vain.
func (p *part) hopeless() bool {
	before, found := p.before.things(), p.seen.things()
	if p.allBlocked(found) {
		return true
	}
	if maps.Equal(before, found) {
		p.stuck++
		return p.stuck >= patience
	}
	p.stuck = 0
	if !p.seen.more {
		p.whole++
	}
	return p.whole >= maxWhole
}

// allBlocked tells whether an obstacle keeps each of the things found.
func (p *part) allBlocked(found map[thing]bool) bool {
	for t := range found {
		if AsBlocked(p.refused[t]) == nil {
			return false
		}
	}
	return true
}

// whyStuck is the reason why what was found cannot be deleted.
func (p *part) whyStuck() error {
	var errs []error
	for _, o := range p.seen.objects {
		errs = append(errs, p.refused[o.thing()])
	}
	if err := worst(errs); err != nil {
		return fmt.Errorf("delete objects: %w", p.namingAll(err))
	}
	if len(p.seen.documents) > 0 {
		return &Blocked{Reason: ReasonDocumentStillPresent, Detail: p.seen.documents[0].Collection + ": " + p.seen.documents[0].Key}
	}
	first := p.seen.objects[0]
	return &Blocked{Reason: ReasonObjectsStillPresent, Detail: fmt.Sprintf("%d in %s, as %q", len(p.seen.objects), first.bucket, first.Key)}
}

// mostNamed is how many objects an error names.
const mostNamed = 5

// namingAll adds to the error of one object which ones are refused, the first of them by key, and how many they are.
func (p *part) namingAll(err error) error {
	var keys []string
	for _, o := range p.seen.objects {
		if p.refused[o.thing()] != nil {
			keys = append(keys, fmt.Sprintf("%q", o.Key))
		}
	}
	if len(keys) < 2 {
		return err // which names its own
	}
	all := fmt.Sprintf("; %d of the objects listed are refused: %s", len(keys), strings.Join(keys[:min(len(keys), mostNamed)], ", "))
	if len(keys) > mostNamed {
		all += ", …"
	}
	if b := AsBlocked(err); b != nil {
		return &Blocked{Reason: b.Reason, Detail: b.Detail + all, Until: b.Until}
	}
	return fmt.Errorf("%w%s", err, all)
}

// finish writes down that nothing is there any more; the evidence that stands already wins.
func (r *erasure) finish(ctx context.Context, p *part) {
	evidence, err := r.stores.done(ctx, Record{Key: r.ledgerKey(p), Evidence: events.PartEvidence{
		Part: p.name, Generation: p.generation,
		Documents: p.counted.Documents, Objects: p.counted.Objects, Bytes: p.counted.Bytes,
		Attempts: r.tries(), SeenAbsentAt: p.lookedAt,
	}})
	if err != nil {
		p.err = fmt.Errorf("write the end into the ledger: %w", err)
		return
	}
	p.evidence = &evidence
}
