package dependency

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"reflect"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// Lease gives a worker the right to write to an asset and to change its attributes, for a time; one worker at a time.
// Refusals: not-found, gone, invalid-request, leased.
func (s *Service) Lease(ctx context.Context, r events.LeaseRequest) (events.Leased, error) {
	return through(ctx, s, r.Asset, Caller{Owner: r.Owner, Operator: r.Operator}, func(_ context.Context, w *world, n Node) (events.Leased, error) {
		if n.Status != Live {
			return events.Leased{}, gone(n)
		}
		ttl, err := s.ttl(r.TTL)
		if err != nil {
			return events.Leased{}, err
		}
		if n.Lease != nil && w.now.Before(n.Lease.Until) {
			return events.Leased{}, problem.New(problem.Leased, "asset %q is leased until %s; try again then", n.ID, n.Lease.Until.Format(time.RFC3339)).
				With("until", n.Lease.Until)
		}
		out := events.Leased{Token: rand.Text(), Until: w.now.Add(ttl)}
		n.Lease = &Lease{TokenHash: tokenHash(out.Token), Until: out.Until}
		w.save(n)
		return out, nil
	})
}

// Renew prolongs a lease, or changes attributes under it. It is conditional: a lease that has run out, was taken over, or was
// revoked by a tombstone, and a token that never was one, are lease-lost, and nothing is changed. Other refusals: not-found,
// invalid-request, attribute-fixed.
func (s *Service) Renew(ctx context.Context, r events.RenewRequest) (events.Leased, error) {
	return through(ctx, s, r.Asset, Caller{Owner: r.Owner, Operator: r.Operator}, func(_ context.Context, w *world, n Node) (events.Leased, error) {
		if n.Status != Live || !n.leasedTo(r.Token, w.now) {
			return events.Leased{}, leaseLost(n.ID)
		}
		lease := *n.Lease
		if r.TTL != 0 {
			ttl, err := s.ttl(r.TTL)
			if err != nil {
				return events.Leased{}, err
			}
			lease.Until = w.now.Add(ttl)
		}
		if len(r.Attributes) > 0 {
			changed, err := s.withAttributes(n, r.Attributes)
			if err != nil {
				return events.Leased{}, err
			}
			if !sameNode(n, changed) {
				changed.UpdatedAt = w.now
			}
			n = changed
		}
		n.Lease = &lease
		w.save(n)
		return events.Leased{Token: r.Token, Until: lease.Until}, nil
	})
}

// withAttributes is a node with some attributes changed; null takes one away. Those that make a place stay as they are.
func (s *Service) withAttributes(n Node, changes map[string]any) (Node, error) {
	kind, ok := s.policy.Kind(n.Kind)
	if !ok {
		return n, problem.New(problem.UnknownKind, "the policy has no kind %q any more", n.Kind)
	}
	if err := checkNumbers(changes, "attributes"); err != nil {
		return n, err
	}
	before := n.Attributes
	n.Attributes = maps.Clone(before)
	if n.Attributes == nil {
		n.Attributes = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(n.Attributes, name)
		} else {
			n.Attributes[name] = value
		}
	}
	for _, name := range kind.FixedAttributes() {
		if !reflect.DeepEqual(before[name], n.Attributes[name]) {
			return n, attributeFixed(name)
		}
	}
	return n, nil
}

// leasedTo tells whether the token is that of the lease in force.
func (n Node) leasedTo(token string, now time.Time) bool {
	return n.Lease != nil && now.Before(n.Lease.Until) && n.Lease.TokenHash == tokenHash(token)
}

func leaseLost(asset string) error {
	return problem.New(problem.LeaseLost, "the lease on asset %q is over, or was never this one; take a new one, and begin again from what is there now", asset)
}

// tokenHash is what the graph keeps of a token, so that who reads the graph cannot use it.
func tokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
