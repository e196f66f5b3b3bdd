package policy

import (
	"cmp"
	"slices"
)

// The collision rule. Two places in one bucket, or in one collection, may stand side by side only if one of these holds:
//
//   - No text fits both: their patterns have nothing in common, whatever the values are. A prefix stands for every key
//     that begins with it.
//   - They are places of one part, and both hold {id} in the same segment with the same text around it. Then those of
//     two assets differ in that segment; those of one asset may lie within each other, as they are erased together.
//   - Both are single keys made of attributes: the claims of the assets keep them apart (place-taken).
//
// A place for itself needs {id} in a segment of its own; for a single key {generation} does as well, or being made of
// attributes (checkPrefix, checkOwned and Exclusive). So it is never two assets'. Places in one collection must also use
// the same `id` field: else one document could be found by two of them.

// checkCollisions compares every place with those before it in the text and in the same store, and notes the first that
// it could meet.
func (r *reader) checkCollisions() {
	slices.SortFunc(r.places, func(a, b readPlace) int {
		x, y := start(a.node), start(b.node)
		return cmp.Or(x.Line-y.Line, x.Column-y.Column)
	})
	before := map[string][]readPlace{}
	for _, later := range r.places {
		store := later.store()
		for _, earlier := range before[store] {
			if !r.checkPair(earlier, later) {
				break
			}
		}
		before[store] = append(before[store], later)
	}
}

// checkPair tells whether two places in one store may stand side by side, or notes why not.
func (r *reader) checkPair(earlier, later readPlace) bool {
	line := start(earlier.node).Line
	same := earlier.owner == later.owner
	switch {
	case same && earlier.part.record() == later.part.record():
		r.fault(later.node, "%s is the one of line %d once more; remove it", later, line)
	case later.part.Document != nil && earlier.part.Document.IDField != later.part.Document.IDField:
		r.fault(later.node, "%s finds its documents by another field than %s (line %d) in the same collection; use the same id, or another collection", later, earlier, line)
	case !overlap(earlier.keys, later.keys):
		return true
	case same && earlier.part.sameSegment(later.part):
		return true
	case earlier.part.exclusive() && later.part.exclusive():
		return true
	default:
		r.fault(later.node, "%s could be at the same place as %s (line %d) in %s; let them begin with different words, or use another %s",
			later, earlier, line, later.store(), later.storeSort())
	}
	return false
}

// sameSegment tells whether both places hold the id in the same segment in the same way, so that they meet only for one
// asset.
func (p *Part) sameSegment(other *Part) bool {
	a, b := p.template(), other.template()
	i, owned := a.pinned(idVariable)
	j, ownedToo := b.pinned(idVariable)
	return owned && ownedToo && i == j && p.raw() == other.raw() && slices.Equal(a.segments()[i], b.segments()[j])
}

// keys describes every key of an object or document that is at the place.
func (p *Part) keys() []atom {
	keys := p.template().pattern(p.raw())
	if p.Blobs != nil && p.Blobs.Prefix != nil {
		return below(keys)
	}
	return keys
}

// store names the bucket or collection that the place is in.
func (w readPlace) store() string { return w.storeSort() + " " + w.storeName() }

func (w readPlace) storeSort() string {
	if w.part.Document != nil {
		return "collection"
	}
	return "bucket"
}

func (w readPlace) storeName() string {
	if d := w.part.Document; d != nil {
		return d.Collection
	}
	return w.part.Blobs.Bucket
}
