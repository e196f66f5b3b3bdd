package dependency

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/policy"
)

// expiryPage bounds the assets that one look for what has expired reads, whatever they are.
const expiryPage = 250

// errKept is the answer to a request of retention for what is not to go any more: the clock moved or the condition does not
// hold, or somebody else was faster.
var errKept = errors.New("it has not expired any more")

// expiry is what has expired of one asset.
type expiry struct {
	asset, kind, owner string
	part               string // empty: the whole asset
	generation         string // in which it was found; empty for an adopted asset
	at                 time.Time
	reason             string
	bytes              int64
}

// candidate is what answers tell of it.
func (x expiry) candidate() Candidate {
	return Candidate{Asset: x.asset, Part: x.part, Reason: x.reason, Bytes: x.bytes}
}

// item is the request for its deletion, by the actor `retention`. T1 looks again under the lock.
func (x expiry) item() acceptItem {
	return acceptItem{by: Caller{Subject: retentionActor, Operator: true}, id: x.asset, part: x.part, DeleteRequest: DeleteRequest{Reason: x.reason}, expired: &x}
}

// expiredOf finds what has expired of a live asset by now: the whole of it, or else single parts.
func expiredOf(kind *policy.Kind, n Node, now time.Time) (found []expiry) {
	if n.Status != Live {
		return nil
	}
	aged := policy.Aged{CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt, Attributes: n.Attributes}
	if at, ok := kind.Retention.ExpiresAt(aged); ok && !at.After(now) {
		return []expiry{{asset: n.ID, kind: n.Kind, owner: n.Owner, generation: n.Generation, at: at,
			reason: expiredBecause(kind.Retention, at, kind.Retention.Clock), bytes: n.Bytes}}
	}
	for _, p := range kind.Parts {
		state := partState(n, p.Name)
		at, ok := p.Retention.ExpiresAt(aged)
		if !ok || state.Status != PartPresent {
			continue
		}
		clock := p.Retention.Clock
		if state.Since != nil { // what was written again is no older than that, whatever the asset's clock says
			if again := state.Since.UTC().Add(p.Retention.After); again.After(at) {
				at, clock = again, "it was written again"
			}
		}
		if !at.After(now) {
			found = append(found, expiry{asset: n.ID, kind: n.Kind, owner: n.Owner, part: p.Name, generation: state.Generation, at: at,
				reason: expiredBecause(p.Retention, at, clock)})
		}
	}
	return found
}

// expiredBecause is the reason of the deletion, for the trail and for people.
func expiredBecause(r *policy.Retention, at time.Time, clock string) string {
	return fmt.Sprintf("expired at %s, %s after %s", at.Format(time.RFC3339), r.Text(), clock)
}

// still tells whether what was found has expired now, with the node as it is under its lock: what was made anew, or changed
// in what the rule looks at, stays.
func (x expiry) still(s *Service, n Node, now time.Time) bool {
	kind, ok := s.policy.Kind(n.Kind)
	if !ok {
		return false
	}
	return slices.ContainsFunc(expiredOf(kind, n, now), func(y expiry) bool {
		return x.part == y.part && (x.generation == "" || x.generation == y.generation)
	})
}

// expiringKinds are the kinds of which anything expires, in order.
func (s *Service) expiringKinds() (kinds []string) {
	for _, name := range slices.Sorted(maps.Keys(s.policy.Kinds)) {
		if s.policy.Kinds[name].Expires() {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// walkMark is how far a walk over the graph has come: all kinds before Kind, and of it all assets up to After.
type walkMark struct {
	Kind  string `json:"kind"`
	After string `json:"after"`
}

// expiredPage is what one page of the walk has found.
type expiredPage struct {
	found []expiry
	left  Left
	next  walkMark // behind the page
}

// walkExpired goes from a mark over the live assets of all kinds that expire, by kind and id, so that what comes, goes or
// changes meanwhile moves nothing under it, and hands page after page over.
func (s *Service) walkExpired(ctx context.Context, from walkMark, each func(expiredPage) error) error {
	for _, kind := range s.expiringKinds() {
		if kind < from.Kind {
			continue
		}
		after := ""
		if kind == from.Kind {
			after = from.After
		}
		for more := true; more; {
			var p expiredPage
			err := s.graph.View(ctx, func(tx Tx) (err error) {
				p, more, err = s.expiredPage(ctx, tx, walkMark{kind, after})
				return err
			})
			if err != nil {
				return err
			}
			after = p.next.After
			if err := each(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// expiredPage looks at the assets behind a mark.
func (s *Service) expiredPage(ctx context.Context, tx Tx, m walkMark) (p expiredPage, more bool, err error) {
	nodes, err := tx.ListNodes(ctx, NodeFilter{Kind: m.Kind, Statuses: []Status{Live}, After: m.After, Limit: expiryPage})
	if err != nil || len(nodes) == 0 {
		return expiredPage{next: m}, false, err
	}
	p.next = walkMark{m.Kind, nodes[len(nodes)-1].ID}
	var whole []string
	for _, n := range nodes {
		found := expiredOf(s.policy.Kinds[m.Kind], n, s.now())
		if n.Hold != nil {
			p.left.Held += len(found)
			continue
		}
		for _, x := range found {
			if x.part == "" {
				whole = append(whole, x.asset)
			}
		}
		p.found = append(p.found, found...)
	}
	needed, err := tx.Dependants(ctx, whole, s.policy.LinkTypes(policy.Restrict), 1)
	p.left.Dependants = len(needed)
	p.found = slices.DeleteFunc(p.found, func(x expiry) bool { return x.part == "" && needed[x.asset].Total > 0 })
	return p, len(nodes) == expiryPage, err
}
