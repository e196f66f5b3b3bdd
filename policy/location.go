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
		return p.Document.location(s, p.raw())
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

// raw tells whether the value stays as it is: that of a document's key which is one variable and nothing else. There is
// nothing to keep it apart from, and a document's key is the id itself by default.
func (p *Part) raw() bool { return p.Document != nil && p.Document.Key.single() }

func (d *Document) location(s Subject, raw bool) (Location, error) {
	key, err := d.Key.expand(s, raw)
	if err != nil {
		return Location{}, err
	}
	if len(key) > maxKey {
		return Location{}, tooLong("the key of its document in collection %q has %d bytes; at most %d fit", d.Collection, len(key), maxKey)
	}
	if why := d.IDType.refuse(key); why != "" {
		return Location{}, d.Key.pieces[0].badValue("%q is not %s, as the key of its document in collection %q must be", key, why, d.Collection)
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
	if err := checkKey(b.Bucket, l.Prefix+l.Key, limit); err != nil {
		return Location{}, err
	}
	return l, nil
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

// refuse tells what a key would have to be that is not in the one form of its type, so that no two keys mean the same
// document; empty when the key is in it.
func (t IDType) refuse(key string) string {
	switch t {
	case IDInt:
		if n, err := strconv.ParseInt(key, 10, 64); err != nil || strconv.FormatInt(n, 10) != key {
			return "a whole number of 64 bits in plain decimal"
		}
	case IDObjectID:
		if len(key) != 24 || strings.Trim(key, "0123456789abcdef") != "" {
			return "an ObjectID of 24 lower-case hex digits"
		}
	}
	return ""
}
