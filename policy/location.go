package policy

import (
	"strconv"
	"strings"

	"github.com/tombstone-project/tombstone/problem"
)

// Limits of the stores, in bytes.
const (
	maxKey     = 1024 // an S3 key, and what we allow as the key of a document
	maxSegment = 255  // one segment of an S3 key, in stores that keep objects as files
	nameRoom   = 128  // what a prefix leaves of maxKey for the names of objects below it
)

// Location works out the present place of the part for one asset. The error is a *problem.Problem: invalid-attribute,
// invalid-id or location-too-long.
func (p *Part) Location(s Subject) (Location, error) {
	if p.Document != nil {
		return p.Document.location(s)
	}
	return p.Blobs.location(s)
}

// Locations works out every place of the part for one asset, the present one first, then the former ones. Errors as of
// Location.
func (p *Part) Locations(s Subject) ([]Location, error) {
	var out []Location
	for _, place := range p.places() {
		l, err := place.Location(s)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func (d *Document) location(s Subject) (Location, error) {
	key, err := d.Key.expand(s, d.Key.single())
	if err != nil {
		return Location{}, err
	}
	if len(key) > maxKey {
		return Location{}, tooLong("the key of its document in collection %q has %d bytes; at most %d fit", d.Collection, len(key), maxKey)
	}
	if err := d.IDType.check(key); err != nil {
		return Location{}, err
	}
	return Location{
		Collection: d.Collection, DocumentKey: key, IDField: d.IDField, IDType: d.IDType, Fenced: d.Key.fenced(),
	}, nil
}

func (b *Blobs) location(s Subject) (Location, error) {
	l := Location{Bucket: b.Bucket, GovernanceBypass: b.GovernanceBypass}
	var err error
	limit := maxKey
	if b.Prefix != nil {
		l.Fenced, limit = b.Prefix.fenced(), maxKey-nameRoom
		l.Prefix, err = b.Prefix.expand(s, false)
	} else {
		l.Fenced = b.Key.fenced()
		l.Key, err = b.Key.expand(s, false)
	}
	if err != nil {
		return Location{}, err
	}
	return l, checkKey(b.Bucket, l.Prefix+l.Key, limit)
}

// checkKey refuses a key or prefix that a store would not take.
func checkKey(bucket, key string, limit int) error {
	if len(key) > limit {
		return tooLong("its place in bucket %q has %d bytes; at most %d fit", bucket, len(key), limit)
	}
	for segment := range strings.SplitSeq(key, "/") {
		if len(segment) > maxSegment {
			return tooLong("its place in bucket %q has a segment of %d bytes; at most %d fit", bucket, len(segment), maxSegment)
		}
	}
	return nil
}

func tooLong(detail string, args ...any) error {
	return problem.New(problem.LocationTooLong, detail, args...)
}

// check refuses a key that is not in the one form that its type has, so that no two keys mean the same document.
func (t IDType) check(key string) error {
	switch t {
	case IDInt:
		if n, err := strconv.ParseInt(key, 10, 64); err != nil || strconv.FormatInt(n, 10) != key {
			return problem.New(problem.InvalidID, "%q is not a whole number of 64 bits in plain decimal, and the key of its document is one", key)
		}
	case IDObjectID:
		if len(key) != 24 || strings.Trim(key, "0123456789abcdef") != "" {
			return problem.New(problem.InvalidID, "%q is not 24 lower-case hex digits, and the key of its document is an ObjectID", key)
		}
	}
	return nil
}
