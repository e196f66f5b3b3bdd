package asset

import (
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// inspection is one target in hand, with its places.
type inspection struct {
	documents []documentSeen
	places    []placeSeen
	unseen    []events.Unseen
}

type documentSeen struct {
	part  string
	ref   DocumentRef
	there bool
	err   error
}

type placeSeen struct {
	part string
	Place
	Listing
	err error
}

// begin works out where the parts of a target are, by our own policy.
func (i *Inspector) begin(t events.Target) *inspection {
	in := &inspection{}
	kind, ok := i.policy.Kind(t.Kind)
	if !ok {
		in.unseen = append(in.unseen, events.Unseen{Reason: string(ReasonKindNotInPolicy), Detail: t.Kind})
		return in
	}
	subject := policy.Subject{ID: t.Asset, Owner: t.Owner, Kind: t.Kind, Attributes: t.Attributes}
	for _, p := range kind.Parts {
		subject.Generation = t.Generation
		if len(t.Parts) > 0 {
			if subject.Generation, ok = t.Parts[p.Name]; !ok {
				continue
			}
		}
		located, err := newPart(p, subject)
		if err != nil {
			in.unseen = append(in.unseen, unseen(p.Name, err))
			continue
		}
		in.add(located, slices.Contains(t.Past, p.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parts)) {
		if _, ok := kind.Part(name); !ok {
			in.unseen = append(in.unseen, events.Unseen{Part: name, Reason: string(ReasonPartNotInPolicy)})
		}
	}
	return in
}

// add takes in the places of a part that are its own: all of them, or, when its generation is past, those that hold it, and
// documents that say that they are of it.
func (in *inspection) add(p *part, past bool) {
	for _, ref := range p.documents {
		ref.Exact = past
		in.documents = append(in.documents, documentSeen{part: p.name, ref: ref})
	}
	for n, place := range p.places {
		if !past || p.fences[n] {
			in.places = append(in.places, placeSeen{part: p.name, Place: place})
		}
	}
}

// sight puts together what the first look found. A place that has more, or that finds no room, is where the next page
// begins. It is false when not even the documents found room.
func (in *inspection) sight(room *room) (s events.Sight, fits bool) {
	s.Unseen = in.unseen
	for _, d := range in.documents {
		switch {
		case d.err != nil:
			s.Unseen = append(s.Unseen, unseen(d.part, d.err))
		case d.there:
			s.Found = append(s.Found, events.Thing{Part: d.part, Form: events.FormDocument, Collection: d.ref.Collection, Key: d.ref.Key})
		}
	}
	fits = room.take(s.Found)
	for n, p := range in.places {
		if p.err != nil {
			s.Unseen = append(s.Unseen, unseen(p.part, p.err))
			continue
		}
		objects := objectsAt(p.part, p.Bucket, p.Versions)
		if p.More || !room.take(objects) {
			s.Next = after(n, "")
			return s, fits
		}
		s.Found = append(s.Found, objects...)
	}
	return s, fits
}

// objectsAt are versions as things of a part.
func objectsAt(part, bucket string, versions []Version) []events.Thing {
	things := make([]events.Thing, 0, len(versions))
	for _, v := range versions {
		t := events.Thing{Part: part, Form: events.FormVersion, Bucket: bucket, Key: v.Key, Version: v.ID, Bytes: v.Bytes}
		if v.Upload {
			t.Form = events.FormUpload
		} else if v.Marker {
			t.Form = events.FormMarker
		}
		things = append(things, t)
	}
	return slices.Clip(things)
}

// unseen is an obstacle for people.
func unseen(part string, err error) events.Unseen {
	u := events.Unseen{Part: part, Reason: string(ReasonKeyInvalid), Detail: events.Clip(err.Error())}
	if b := AsBlocked(err); b != nil {
		u.Reason, u.Detail = string(b.Reason), events.Clip(b.Detail)
	}
	return u
}
