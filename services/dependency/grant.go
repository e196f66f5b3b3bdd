package dependency

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// Grant writes the deadline of an upload on the asset's node, before anybody has a URL. Refusals, in this order: not-found,
// gone, unknown-part, no-grant, invalid-request, location-too-long. A deadline once given counts until it has passed: a
// URL cannot be taken back.
func (s *Service) Grant(ctx context.Context, r events.GrantRequest) (events.Granted, error) {
	return through(ctx, s, r.Asset, Caller{Owner: r.Owner, Operator: r.Operator}, func(ctx context.Context, w *world, n Node) (events.Granted, error) {
		var none events.Granted
		if n.Status != Live {
			return none, gone(n)
		}
		if err := s.grantable(n, r); err != nil {
			return none, err
		}
		ttl, err := s.ttl(r.TTL)
		if err != nil {
			return none, err
		}
		if n, err = w.reopen(ctx, n, r.Part); err != nil {
			return none, err
		}
		until := wholeSecond(w.now.Add(ttl))
		if until.After(n.GrantedUntil) {
			n.GrantedUntil = until
			w.save(n)
		}
		return events.Granted{Until: until, Admitted: events.Admitted{
			Owner: n.Owner, Kind: n.Kind, Generation: partState(n, r.Part).Generation, Attributes: n.Attributes,
		}}, nil
	})
}

// grantable refuses an object that cannot be, and one whose place no generation fences: what comes late there could not be
// told from what belongs to the next generation.
func (s *Service) grantable(n Node, r events.GrantRequest) error {
	kind, ok := s.policy.Kind(n.Kind)
	if !ok {
		return problem.New(problem.UnknownPart, "the policy has no kind %q any more", n.Kind)
	}
	part, ok := kind.Part(r.Part)
	if !ok {
		return unknownPart(n.Kind, r.Part)
	}
	if part.Blobs != nil && !part.Blobs.Fenced() {
		return problem.New(problem.NoGrant, "the place of part %q of kind %q lacks {generation}, so an upload that comes late could hurt the next generation", r.Part, n.Kind).
			At("part")
	}
	subject := subjectOf(n)
	subject.Generation = partState(n, r.Part).Generation
	_, err := part.Object(subject, r.Name)
	return err
}

// wholeSecond rounds up: what is signed has no finer times.
func wholeSecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}
