package policy

import (
	"fmt"
	"maps"
)

// canaryWord ends every name of the canary; what stands before it is the installation's namespace.
const canaryWord = "-canary"

// The parts of a canary.
const (
	CanaryDocument = "document"
	CanaryObject   = "object"
)

// WithCanary is the policy with a kind for the canary, when it has one: a document and an object, at places whose names begin
// with the namespace. The hash stays: the kind is the product's, not the operator's.
func (p *Policy) WithCanary(namespace string) (*Policy, error) {
	if p.Canary.Every <= 0 {
		return p, nil
	}
	name := namespace + canaryWord
	if _, taken := p.Kinds[name]; taken {
		return nil, fmt.Errorf("policy: the kind %q has the name of the canary's own; rename it", name)
	}
	key, err := parseTemplate("{id}/{generation}", name)
	if err != nil {
		return nil, err
	}
	prefix, err := parseTemplate(name+"/{id}/{generation}/", name)
	if err != nil {
		return nil, err
	}
	out := *p
	out.Kinds = maps.Clone(p.Kinds)
	out.Kinds[name] = &Kind{Name: name, Internal: true, Parts: []*Part{
		{Name: CanaryDocument, Document: &Document{Collection: namespace + "_canary", Key: key, IDField: "_id", IDType: IDString}},
		{Name: CanaryObject, Blobs: &Blobs{Bucket: p.Canary.Bucket, Prefix: prefix}},
	}}
	return &out, nil
}

// CanaryKind is the kind that WithCanary has added; nil when there is none.
func (p *Policy) CanaryKind() *Kind {
	for _, k := range p.Kinds {
		if k.Internal {
			return k
		}
	}
	return nil
}

// canaryKeys is the pattern of every object of a canary, whatever the namespace is.
func canaryKeys() []atom {
	keys := []atom{{class: noSlash}, {class: noSlash, many: true}}
	for _, b := range []byte(canaryWord + "/") {
		keys = append(keys, atom{class: exactly, byte: b})
	}
	return below(keys)
}

// checkCanary refuses a bucket in which objects of an asset could lie among those of the canary.
func (r *reader) checkCanary() {
	c := r.policy.Canary
	if c.Every <= 0 || c.Bucket == "" {
		return
	}
	for _, w := range r.places {
		if b := w.part.Blobs; b != nil && b.Bucket == c.Bucket && overlap(w.keys, canaryKeys()) {
			r.fault(r.canary, "in bucket %s, %s could be at the same place as the canary, whose keys begin with NAMESPACE%s/; use another bucket", c.Bucket, w, canaryWord)
			return
		}
	}
}
