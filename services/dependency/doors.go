package dependency

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

// door is one request for a right to one asset, or for a change under one. Doors are opened in group commits: the right, and
// the tombstone that ends all rights, meet under the lock of the node and nowhere else.
type door struct {
	asset string
	by    Caller
	// open decides on the node, which exists for the caller, and changes the world; a refusal changes nothing, any other error
	// ends the transaction. It may run several times.
	open func(ctx context.Context, w *world, n Node) error
}

// pass is one transaction of doors.
func (s *Service) pass(ctx context.Context, doors []door) ([]error, error) {
	var results []error
	err := s.graph.Update(ctx, func(tx Tx) error {
		results = make([]error, len(doors))
		w := newWorld(tx, s.now())
		var ids []string
		for _, d := range doors {
			ids = append(ids, d.asset)
		}
		if err := w.load(ctx, Locks{Assets: distinct(ids)}); err != nil {
			return err
		}
		if err := w.readErasing(ctx, w.ownersOf()); err != nil {
			return err
		}
		for i, d := range doors {
			n, ok := w.nodes[d.asset]
			if !ok || !d.by.sees(n.Owner) {
				results[i] = assetNotFound(d.asset)
				continue
			}
			if results[i] = w.closed(n.Owner); results[i] != nil && n.Status == Live {
				continue
			}
			if results[i] = d.open(ctx, w, n); results[i] != nil && problem.As(results[i]) == nil {
				return results[i]
			}
		}
		return w.flush(ctx)
	})
	return results, err
}

// through passes one door and gives what it gave out.
func through[T any](ctx context.Context, s *Service, asset string, by Caller, open func(ctx context.Context, w *world, n Node) (T, error)) (T, error) {
	var out, none T
	refusal, err := s.doors.Do(ctx, door{asset: asset, by: by, open: func(ctx context.Context, w *world, n Node) (err error) {
		out, err = open(ctx, w, n)
		return err
	}})
	if err != nil {
		return none, err
	}
	if refusal != nil {
		return none, refusal
	}
	return out, nil
}

// ttl is how long a right may last that was asked for so long; 0 asks for the policy's default.
func (s *Service) ttl(asked time.Duration) (time.Duration, error) {
	grants := s.policy.Grants
	switch {
	case asked == 0:
		return grants.DefaultTTL, nil
	case asked < 0:
		return 0, problem.New(problem.InvalidRequest, "ttl is %s; send a duration above 0", asked).At("ttl")
	case asked > grants.MaxTTL:
		return 0, problem.New(problem.InvalidRequest, "ttl is %s; the policy allows %s at most", asked, grants.MaxTTL).At("ttl")
	}
	return asked, nil
}
