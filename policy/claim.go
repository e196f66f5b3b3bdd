package policy

import (
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/problem"
)

// Check tells whether every place of every part can be worked out for the asset, and that no two of its own places are
// one; a PUT asks it. The error is a *problem.Problem: invalid-attribute, invalid-id or location-too-long.
func (k *Kind) Check(s Subject) error {
	claimedBy := map[string]string{}
	for _, part := range k.Parts {
		if _, err := part.Locations(s); err != nil {
			return err
		}
		claims, err := part.Claims(s)
		if err != nil {
			return err
		}
		for _, claim := range claims {
			if other, taken := claimedBy[claim]; taken && other != part.Name {
				return problem.New(problem.InvalidAttribute, "parts %q and %q would have the same place; give their attributes different values", other, part.Name)
			}
			claimedBy[claim] = part.Name
		}
	}
	return nil
}

// Claims gives the places of the asset that are made of attributes, as opaque strings, sorted. Each must belong to one
// asset at a time, whatever its kind (409 place-taken). The generation need not be known. Errors as of Check.
func (k *Kind) Claims(s Subject) ([]string, error) {
	found := map[string]bool{}
	for _, part := range k.Parts {
		claims, err := part.Claims(s)
		if err != nil {
			return nil, err
		}
		for _, claim := range claims {
			found[claim] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Claims gives the places of one part that are made of attributes, as those of Kind.
func (p *Part) Claims(s Subject) ([]string, error) {
	var out []string
	for _, place := range p.places() {
		if !place.exclusive() {
			continue
		}
		l, err := place.Location(s)
		if err != nil {
			return nil, err
		}
		out = append(out, l.claim())
	}
	return out, nil
}

// claim names the place, one of a kind among all places of all stores.
func (l Location) claim() string {
	if l.IsDocument() {
		return "documents/" + encodeSegment(l.Collection) + "/" + l.DocumentKey
	}
	return "objects/" + l.Bucket + "/" + l.Key
}

// Exclusive tells whether a place of the part, present or former, is made of attributes, so that only a claim keeps two
// assets from sharing it.
func (p *Part) Exclusive() bool { return slices.ContainsFunc(p.places(), (*Part).exclusive) }

// exclusive looks at the present place alone.
func (p *Part) exclusive() bool {
	return !p.template().owned() && len(p.template().attributes()) > 0
}

// OfGeneration tells whether every place of the part, present and former, holds the generation and needs no attribute: it can
// be worked out for a generation that is gone, and nothing of another one can be there.
func (p *Part) OfGeneration() bool {
	for _, place := range p.places() {
		if t := place.template(); !t.fenced() || len(t.attributes()) > 0 {
			return false
		}
	}
	return true
}

// FixedAttributes lists the attributes that places of the kind are made of, former places included, sorted, each once.
// Their values are fixed at creation.
func (k *Kind) FixedAttributes() []string {
	var names []string
	for _, part := range k.Parts {
		for _, place := range part.places() {
			names = append(names, place.template().attributes()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// UsesAttributes tells whether the kind's places can be worked out only with the asset's attributes.
func (k *Kind) UsesAttributes() bool { return len(k.FixedAttributes()) > 0 }
