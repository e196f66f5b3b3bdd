package dependency

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// add counts an asset in. One that is deleted counts no more, and an adopted one not before its first contact with us.
func (u *Usage) add(n Node) {
	if n.Status == Deleted || n.Generation == "" {
		return
	}
	u.Assets++
	u.Bytes += n.Bytes
	if n.Status == Deleting {
		u.Pending += n.Bytes
	}
}

// usage is G8: what owners are counted to use is what their assets add up to. The sums of the walk along all assets are of
// no single moment, so an owner whose sum differs is counted again, alone.
func (v *verifier) usage(ctx context.Context) error {
	for owners := range slices.Chunk(slices.Sorted(maps.Keys(v.owners)), verifyPage) {
		var counters map[string]Usage
		err := v.graph.View(ctx, func(tx Tx) (err error) {
			counters, err = tx.Usage(ctx, owners)
			return err
		})
		if err != nil {
			return err
		}
		for _, owner := range owners {
			if counters[owner] == v.owners[owner] {
				continue
			}
			if err := v.recount(ctx, owner); err != nil {
				return err
			}
		}
	}
	return nil
}

// recount counts one owner's assets until two counts in a row agree that the counters are wrong by the same, and stood still
// meanwhile, or one that they are right.
func (v *verifier) recount(ctx context.Context, owner string) error {
	var before *Usage
	for range verifyTries {
		counted, sum, still, err := v.count(ctx, owner)
		if err != nil || still && counted == sum {
			return err
		}
		if !still {
			continue
		}
		drift := Usage{Assets: counted.Assets - sum.Assets, Bytes: counted.Bytes - sum.Bytes, Pending: counted.Pending - sum.Pending}
		if before != nil && *before == drift {
			v.report(Violation{Guarantee: "G8", Owner: owner, Do: "report it; until the counters are set right, its quota is wrong by the difference",
				Found: fmt.Sprintf("the counters say %d assets, %d bytes and %d bytes to be released; its assets add up to %d, %d and %d",
					counted.Assets, counted.Bytes, counted.Pending, sum.Assets, sum.Bytes, sum.Pending)})
			return nil
		}
		before = &drift
	}
	return nil
}

// count reads an owner's counters before and after its assets, in one transaction; still tells that they did not change.
func (v *verifier) count(ctx context.Context, owner string) (counted, sum Usage, still bool, err error) {
	err = v.graph.View(ctx, func(tx Tx) error {
		sum = Usage{}
		before, err := tx.Usage(ctx, []string{owner})
		if err != nil {
			return err
		}
		for f := (NodeFilter{Owner: owner, Limit: maxLimit}); ; {
			nodes, err := tx.ListNodes(ctx, f)
			if err != nil {
				return err
			}
			for _, n := range nodes {
				sum.add(n)
			}
			if len(nodes) < maxLimit {
				break
			}
			f.After = nodes[len(nodes)-1].ID
		}
		after, err := tx.Usage(ctx, []string{owner})
		counted, still = after[owner], before[owner] == after[owner]
		return err
	})
	return counted, sum, still, err
}
