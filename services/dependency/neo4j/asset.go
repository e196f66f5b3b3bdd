package neo4j

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// ownProperties are those of asset nodes that are ours, besides the three that the policy names.
func ownProperties() []string {
	return []string{
		"generation", "status", "attributes", "bytes", "created_at", "updated_at", "hold", "deletion", "requested_at", "due_at",
		"parts", "sequence", "granted_until", "lease", "locked",
	}
}

func (n names) encodeNode(a dependency.Node) (params, error) {
	attributes, err1 := object(a.Attributes, len(a.Attributes) == 0)
	parts, err2 := object(a.Parts, len(a.Parts) == 0)
	hold, err3 := object(a.Hold, a.Hold == nil)
	lease, err4 := object(a.Lease, a.Lease == nil)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, fmt.Errorf("encode node: %w", err)
	}
	return params{
		n.Kind: text(a.Kind), n.Owner: text(a.Owner),
		"generation": text(a.Generation), "status": string(a.Status), "attributes": attributes, "bytes": a.Bytes,
		"created_at": moment(a.CreatedAt), "updated_at": moment(a.UpdatedAt), "hold": hold, "deletion": text(a.Deletion),
		"requested_at": moment(a.RequestedAt), "due_at": moment(a.DueAt), "parts": parts, "sequence": a.Sequence,
		"granted_until": moment(a.GrantedUntil), "lease": lease,
	}, nil
}

func (n names) decodeNode(p properties) (dependency.Node, error) {
	if p.text("generation") == "" {
		return n.decodeAdopted(p), nil
	}
	a := dependency.Node{
		ID: p.text(n.ID), Kind: p.text(n.Kind), Owner: p.text(n.Owner),
		Generation: p.text("generation"), Status: dependency.Status(p.text("status")), Bytes: p.number("bytes"),
		CreatedAt: p.moment("created_at"), UpdatedAt: p.moment("updated_at"), Deletion: p.text("deletion"),
		RequestedAt: p.moment("requested_at"), DueAt: p.moment("due_at"), Sequence: p.number("sequence"),
		GrantedUntil: p.moment("granted_until"),
	}
	err := errors.Join(p.object("attributes", &a.Attributes), p.object("parts", &a.Parts), p.object("hold", &a.Hold), p.object("lease", &a.Lease))
	return a, err
}

// decodeAdopted reads a node that we have not written: live, without a generation, its own properties as attributes as
// far as JSON has them.
func (n names) decodeAdopted(p properties) dependency.Node {
	a := dependency.Node{ID: p.text(n.ID), Kind: p.text(n.Kind), Owner: p.text(n.Owner), Status: dependency.Live}
	for name, value := range p {
		if name == n.ID || name == n.Kind || name == n.Owner || slices.Contains(ownProperties(), name) {
			continue
		}
		if v, ok := attribute(value); ok {
			if a.Attributes == nil {
				a.Attributes = map[string]any{}
			}
			a.Attributes[name] = v
		}
	}
	return a
}

// attribute is a stored value as JSON would give it back, so that an attribute has the same type before and after it is
// saved: numbers as float64, times as RFC 3339, lists. Points, durations and the like are left out.
func attribute(value any) (any, bool) {
	if t, ok := value.(time.Time); ok {
		return t.UTC().Format(time.RFC3339Nano), true
	}
	switch value.(type) {
	case bool, string, int64, float64, []any:
	default:
		return nil, false
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil, false // NaN
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, false
	}
	return v, true
}
