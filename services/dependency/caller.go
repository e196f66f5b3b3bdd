package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// caller tells who asks; a call without anybody is a fault of ours and refused.
func caller(ctx context.Context) (Caller, error) {
	c, ok := CallerFrom(ctx)
	if !ok {
		return Caller{}, problem.New(problem.Unauthenticated, "send a token: Authorization: Bearer …")
	}
	return c, nil
}

// operator is caller for calls that need the role.
func operator(ctx context.Context) (Caller, error) {
	c, err := caller(ctx)
	if err == nil && !c.Operator {
		err = problem.New(problem.Forbidden, "this call needs the role operator")
	}
	return c, err
}

// sees tells whether what belongs to owner exists for the caller.
func (c Caller) sees(owner string) bool { return c.Operator || c.Owner == owner }

// ownerFor is the owner that a body names, or the caller's own.
func (c Caller) ownerFor(named string) (string, error) {
	if named == "" {
		return c.Owner, nil
	}
	if err := policy.ValidateID(named); err != nil {
		return "", at(err, "owner")
	}
	if !c.sees(named) {
		return "", problem.New(problem.Forbidden, "you act for owner %q; leave owner out or name yours", c.Owner).At("owner")
	}
	return named, nil
}

// seenBy gives the assets that exist for a caller; others count, but are not named.
func seenBy(ctx context.Context, tx Tx, by Caller, ids []string) ([]string, error) {
	if by.Operator {
		return ids, nil
	}
	nodes, err := tx.Nodes(ctx, ids)
	seen := []string{}
	for _, id := range ids {
		if n, ok := nodes[id]; ok && by.sees(n.Owner) {
			seen = append(seen, id)
		}
	}
	return seen, err
}
