package policy

import (
	"maps"
	"slices"
)

// Kind finds a kind by name.
func (p *Policy) Kind(name string) (*Kind, bool) {
	k, ok := p.Kinds[name]
	return k, ok
}

// Part finds a part of the kind by name.
func (k *Kind) Part(name string) (*Part, bool) {
	i := slices.IndexFunc(k.Parts, func(p *Part) bool { return p.Name == name })
	if i < 0 {
		return nil, false
	}
	return k.Parts[i], true
}

// LinkTypes lists the relationship types with this reaction, sorted.
func (p *Policy) LinkTypes(r Reaction) []string {
	var types []string
	for _, l := range p.Links {
		if l.OnTargetDelete == r {
			types = append(types, l.Type)
		}
	}
	slices.Sort(types)
	return types
}

// Buckets lists every bucket that the policy names, those of former places and of the canary included, sorted.
func (p *Policy) Buckets() []string {
	found := map[string]bool{}
	if p.Canary.Every > 0 {
		found[p.Canary.Bucket] = true
	}
	for _, place := range p.allPlaces() {
		if place.Blobs != nil {
			found[place.Blobs.Bucket] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Collections lists every collection that the policy names, those of former places included, sorted.
func (p *Policy) Collections() []string {
	found := map[string]bool{}
	for _, place := range p.allPlaces() {
		if place.Document != nil {
			found[place.Document.Collection] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Unversioned names one part with a place that no generation fences, and the bucket it is in.
type Unversioned struct {
	Kind   string
	Part   string
	Bucket string
}

// NeedVersions lists the object places, present and former, that lack {generation} and do not say `unfenced: true`:
// their fence is the version id, so their buckets must have versioning enabled. Sorted by kind, in the order of parts.
func (p *Policy) NeedVersions() []Unversioned {
	var out []Unversioned
	for _, place := range p.allPlaces() {
		if b := place.Blobs; b != nil && !b.Unfenced && !place.template().fenced() {
			out = append(out, Unversioned{Kind: place.kind, Part: place.Name, Bucket: b.Bucket})
		}
	}
	return slices.Compact(out)
}

// placed is one place of the policy with the kind that it belongs to.
type placed struct {
	*Part
	kind string
}

// allPlaces lists every place: by kind, in the order of parts, the present place before the former ones.
func (p *Policy) allPlaces() []placed {
	var out []placed
	for _, name := range slices.Sorted(maps.Keys(p.Kinds)) {
		for _, part := range p.Kinds[name].Parts {
			for _, place := range part.places() {
				out = append(out, placed{Part: place, kind: name})
			}
		}
	}
	return out
}

// places lists the present place, then the former ones.
func (p *Part) places() []*Part { return append([]*Part{p}, p.Former...) }

// template is the key or prefix of a place.
func (p *Part) template() *Template {
	switch {
	case p.Document != nil:
		return p.Document.Key
	case p.Blobs.Prefix != nil:
		return p.Blobs.Prefix
	default:
		return p.Blobs.Key
	}
}
