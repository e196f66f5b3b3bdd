package dependency

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// maxAssetBytes bounds what one asset may declare, so that an owner's sum of 64 bits has room for thousands of them.
const maxAssetBytes = 1 << 50

// putItem is one creation or change of an asset, checked as far as it can be without the graph.
type putItem struct {
	by    Caller
	id    string
	put   Put
	owner string // named or the caller's; used for a new asset
	kind  *policy.Kind
	// linksOnly changes an asset that is there, and creates none.
	linksOnly bool
}

type putResult struct {
	asset   Asset
	outcome Outcome
	err     error
}

// PutAsset creates an asset or changes it; see CONTRACT section 5.
func (s *Service) PutAsset(ctx context.Context, id string, put Put) (Asset, Outcome, error) {
	by, err := caller(ctx)
	if err != nil {
		return Asset{}, "", err
	}
	item, err := s.checkPut(by, id, put)
	if err != nil {
		return Asset{}, "", err
	}
	r, err := s.puts.Do(ctx, item)
	if err != nil {
		return Asset{}, "", err
	}
	return r.asset, r.outcome, r.err
}

// checkPut checks what can be checked without the graph.
func (s *Service) checkPut(by Caller, id string, put Put) (putItem, error) {
	item := putItem{by: by, id: id, put: put}
	if err := policy.ValidateID(id); err != nil {
		return item, at(err, "id")
	}
	var err error
	if item.owner, err = by.ownerFor(put.Owner); err != nil {
		return item, err
	}
	kind, ok := s.policy.Kind(put.Kind)
	if !ok {
		return item, problem.New(problem.UnknownKind, "the policy has no kind %q; it has %s", put.Kind, quoteAll(slices.Sorted(maps.Keys(s.policy.Kinds)))).At("kind")
	}
	item.kind = kind
	if err := refuseInternal(by, item); err != nil {
		return item, err
	}
	if put.Bytes != nil && (*put.Bytes < 0 || *put.Bytes > maxAssetBytes) {
		return item, problem.New(problem.InvalidRequest, "bytes is %d; send 0 to %d (1 PiB)", *put.Bytes, int64(maxAssetBytes)).At("bytes")
	}
	if err := checkNumbers(put.Attributes, "attributes"); err != nil {
		return item, err
	}
	if put.Links != nil {
		for i, l := range *put.Links {
			if err := s.checkLink(id, l); err != nil {
				return item, at(err, fmt.Sprintf("links[%d]", i))
			}
		}
	}
	return item, nil
}

// maxExact is the greatest whole number up to which readers of JSON agree on every one (RFC 7493, section 2.2).
const maxExact = 1<<53 - 1

// checkNumbers refuses numbers in attributes that may not be the ones that were sent: beyond maxExact neighbours read alike.
func checkNumbers(value any, at string) error {
	switch v := value.(type) {
	case float64:
		if math.Abs(v) > maxExact {
			return problem.New(problem.InvalidRequest, "numbers beyond ±%d would not be kept exactly; send it as a string", int64(maxExact)).At(at)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := checkNumbers(v[name], at+"."+name); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v {
			if err := checkNumbers(inner, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLink checks a link's type and ends without the graph.
func (s *Service) checkLink(from string, l LinkTo) error {
	if _, ok := s.policy.Links[l.Type]; !ok {
		return problem.New(problem.UnknownLinkType, "the policy has no link type %q; it has %s", l.Type, quoteAll(slices.Sorted(maps.Keys(s.policy.Links))))
	}
	if err := policy.ValidateID(l.To); err != nil {
		return err
	}
	if l.To == from {
		return problem.New(problem.SelfLink, "an asset cannot link to itself")
	}
	return nil
}

// put is one transaction of creations and changes.
func (s *Service) put(ctx context.Context, items []putItem) ([]putResult, error) {
	var results []putResult
	err := s.graph.Update(ctx, func(tx Tx) error {
		results = make([]putResult, len(items))
		w := &putWorld{world: newWorld(tx, s.now()), policy: s.policy, relinked: map[Link]bool{}}
		if err := w.read(ctx, items); err != nil {
			return err
		}
		for i, item := range items {
			if results[i] = w.put(item); results[i].err != nil {
				continue
			}
			results[i].asset = s.view(w.nodes[item.id], w.linksOf(item.id))
		}
		w.setLinks(w.relinked)
		return w.flush(ctx)
	})
	return results, err
}
