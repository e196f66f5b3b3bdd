package dependency

import (
	"context"
	"strconv"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// readWider finds the assets whose deletion takes others along or detaches links; the usual ones need no closure.
func (w *acceptWorld) readWider(ctx context.Context, ids []string) error {
	w.wider = map[string]bool{}
	types := append(w.s.policy.LinkTypes(policy.Cascade), w.s.policy.LinkTypes(policy.Detach)...)
	found, err := w.tx.Dependants(ctx, ids, types, 0) // whether there are any
	if err != nil {
		return err
	}
	for id := range found {
		w.wider[id] = true
	}
	if len(countingReferences(w.s.policy)) == 0 {
		return nil
	}
	links, err := w.tx.Outgoing(ctx, ids)
	for _, l := range links {
		if l.Hidden == "" && w.s.policy.Links[l.Type].OnLastSourceDelete {
			w.wider[l.From] = true
		}
	}
	return err
}

// acceptClosure decides a request that takes others along. It goes whole or not at all.
func (w *acceptWorld) acceptClosure(ctx context.Context, it acceptItem) (acceptResult, error) {
	c, err := findClosure(ctx, w.world, w.s.policy, it.id, it.by, it.WithDependants)
	if err != nil {
		return acceptResult{}, err
	}
	if err := w.readClaims(ctx, w.s.policy); err != nil {
		return acceptResult{}, err
	}
	if err := w.refuseClosure(ctx, it.by, c); err != nil {
		return acceptResult{err: err}, nil
	}
	if it.IfPlan != "" {
		if it.seen == nil {
			return acceptResult{unseen: true}, nil
		}
		now := c.sum().hash()
		now.objects, now.bytes = it.seen.objects, it.seen.bytes
		if now.String() != it.IfPlan {
			return acceptResult{err: planChanged(difference(it.IfPlan, now), now)}, nil
		}
	}
	d := w.entomb(it, c.order, c.why)
	for _, l := range c.hide {
		l.Hidden = d.ID
		w.saveLinks = append(w.saveLinks, l)
	}
	w.remember(it, Key{Subject: it.by.Subject, Key: it.IdempotencyKey}, d.ID)
	shown, next := firstSteps(w.erasures)
	return acceptResult{deletion: w.s.deletionView(d, shown, next)}, nil
}

// refuseClosure finds what stands against the whole.
func (w *acceptWorld) refuseClosure(ctx context.Context, by Caller, c *closure) error {
	if err := c.tooMany(); err != nil {
		return err
	}
	for _, id := range c.order {
		if n := w.nodes[id]; n.Hold != nil {
			return onHold(n)
		}
		if err := w.ownPlaces(id); err != nil {
			return err
		}
	}
	if len(c.blockers) > 0 {
		all := distinct(keysOf(c.blockers))
		first, err := seenBy(ctx, w.tx, by, all[:min(len(all), namesShown)])
		if err != nil {
			return err
		}
		return hasDependants(c.order[0], Dependants{First: first, Total: len(all)})
	}
	return nil
}

// tooMany refuses a deletion that takes more along than one may.
func (c *closure) tooMany() error {
	if limit := c.policy.Limits.MaxAssetsPerDeletion; len(c.order) > limit {
		return tooManyAssets(len(c.order), limit)
	}
	return nil
}

func tooManyAssets(n, limit int) error {
	count := strconv.Itoa(n)
	if n > countedAtMost(limit) {
		count = "at least " + count
	}
	return problem.New(problem.TooManyAssets, "this would delete %s assets, more than limits.max_assets_per_deletion (%d); delete parts of it first, or raise the limit", count, limit).
		With("assets_total", n)
}

func keysOf(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}
