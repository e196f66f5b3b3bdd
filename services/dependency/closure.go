package dependency

import (
	"context"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
)

const (
	closureChunk = 500  // assets whose links are read in one call
	sourcesPage  = 5000 // links read in one call
	// detachLocked is how many sources of detached links are locked; beyond it a link that its source removes at the same
	// moment may come back when the deletion is cancelled.
	detachLocked = 10000
)

// closure is what the deletion of one asset takes along, and what stands against it. It is found level by level, without
// recursion, and is the same code for a plan and for T1.
type closure struct {
	w              *world
	policy         *policy.Policy
	withDependants bool

	order    []string          // the assets that go, the root first
	why      map[string]string // asset that goes → why
	hide     []Link            // detached links
	blockers map[string]string // live or scheduled dependant that does not go → its link type
	shared   map[string]bool   // targets that may lose their last source
	last     map[string]bool   // of them, those that go because they did
	kept     map[string]bool   // of them, those that stay because they are held
}

// findClosure works out the closure of a root in a transaction: first without locks, to know what must be locked, then
// under them, until nothing new turns up.
func findClosure(ctx context.Context, w *world, p *policy.Policy, root string, withDependants bool) (*closure, error) {
	locked := map[string]bool{}
	for {
		c := &closure{w: w, policy: p, withDependants: withDependants, why: map[string]string{}, blockers: map[string]string{},
			shared: map[string]bool{}, last: map[string]bool{}, kept: map[string]bool{}}
		if err := c.find(ctx, root); err != nil {
			return nil, err
		}
		if len(c.order) > p.Limits.MaxAssetsPerDeletion {
			return c, nil // refused whole; nothing needs a lock
		}
		more := false
		for _, id := range c.decisive() {
			more = more || !locked[id]
			locked[id] = true
		}
		if !more {
			return c, nil
		}
		if err := w.load(ctx, Locks{Assets: slices.Sorted(maps.Keys(locked))}); err != nil {
			return nil, err
		}
	}
}

// decisive are the assets whose state the closure depends on.
func (c *closure) decisive() []string {
	ids := slices.Concat(c.order, slices.Collect(maps.Keys(c.shared)))
	if len(c.hide) <= detachLocked {
		for _, l := range c.hide {
			ids = append(ids, l.From)
		}
	}
	return distinct(ids)
}

// find walks from the root until nothing more goes along.
func (c *closure) find(ctx context.Context, root string) error {
	frontier := c.take(nil, root, "requested")
	for len(frontier) > 0 {
		var next []string
		for chunk := range slices.Chunk(frontier, closureChunk) {
			found, err := c.step(ctx, chunk)
			if err != nil {
				return err
			}
			next = append(next, found...)
		}
		if len(next) == 0 { // only now is it known which sources of a shared target go
			var err error
			if next, err = c.lastSources(ctx); err != nil {
				return err
			}
		}
		frontier = next
	}
	maps.DeleteFunc(c.blockers, func(id, _ string) bool { return c.why[id] != "" })
	c.hide = slices.DeleteFunc(c.hide, func(l Link) bool { return c.why[l.From] != "" })
	return nil
}

// take adds an asset to those that go, once.
func (c *closure) take(list []string, id, why string) []string {
	if c.why[id] != "" {
		return list
	}
	c.why[id] = why
	c.order = append(c.order, id)
	return append(list, id)
}

// step reads the links of a chunk of assets that go, and finds those that go with them.
func (c *closure) step(ctx context.Context, chunk []string) (next []string, err error) {
	err = c.sources(ctx, chunk, slices.Sorted(maps.Keys(c.policy.Links)), func(src Source) bool {
		switch reaction := c.policy.Links[src.Type].OnTargetDelete; {
		case c.why[src.From] != "":
		case reaction == policy.Detach:
			c.hide = append(c.hide, src.Link)
		case src.Status == Live && (reaction == policy.Cascade || c.withDependants):
			next = c.take(next, src.From, src.Type+" "+src.To)
		case reaction == policy.Restrict:
			c.blockers[src.From] = src.Type
		}
		return true
	})
	if err != nil || !c.countsReferences() {
		return next, err
	}
	links, err := c.w.tx.Outgoing(ctx, chunk)
	for _, l := range links {
		if l.Hidden == "" && c.policy.Links[l.Type].OnLastSourceDelete {
			c.shared[l.To] = true
		}
	}
	return next, err
}

func (c *closure) countsReferences() bool {
	for _, l := range c.policy.Links {
		if l.OnLastSourceDelete {
			return true
		}
	}
	return false
}

// sources gives the links of these types to the targets, in pages, until do is false. Targets with many links are read one
// by one.
func (c *closure) sources(ctx context.Context, targets, types []string, do func(Source) bool) error {
	list, err := c.w.tx.Sources(ctx, targets, types, sourcesPage)
	if err != nil {
		return err
	}
	if len(list) < sourcesPage {
		for _, src := range list {
			if !do(src) {
				return nil
			}
		}
		return nil
	}
	for _, to := range targets {
		for after := (Link{}); ; {
			list, err := c.w.tx.Incoming(ctx, to, types, after, sourcesPage)
			if err != nil {
				return err
			}
			for _, src := range list {
				if (src.Status == Live || src.Scheduled) && !do(src) {
					return nil
				}
			}
			if len(list) < sourcesPage {
				break
			}
			after = list[len(list)-1].Link
		}
	}
	return nil
}

// lastSources finds the shared targets that nothing needs any more once everything found so far has gone. A held one stays.
func (c *closure) lastSources(ctx context.Context) (next []string, err error) {
	var candidates []string
	for id := range c.shared {
		if c.why[id] == "" && !c.kept[id] {
			candidates = append(candidates, id)
		}
	}
	if len(candidates) == 0 {
		return nil, nil
	}
	slices.Sort(candidates)
	nodes, err := c.w.tx.Nodes(ctx, candidates)
	if err != nil {
		return nil, err
	}
	for _, id := range candidates {
		n := nodes[id]
		if n.Status != Live {
			continue
		}
		needed := false
		err := c.sources(ctx, []string{id}, c.policy.LinkTypes(policy.Restrict), func(src Source) bool {
			needed = c.why[src.From] == ""
			return !needed
		})
		if err != nil {
			return nil, err
		}
		switch {
		case needed:
		case n.Hold != nil:
			c.kept[id] = true
		default:
			c.last[id] = true
			next = c.take(next, id, "its last source goes")
		}
	}
	return next, nil
}
