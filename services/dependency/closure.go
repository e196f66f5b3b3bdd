package dependency

import (
	"context"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
)

// detachLocked is how many sources of detached links are locked; beyond it a link that its source removes at the same
// moment may come back when the deletion is cancelled.
const detachLocked = 10000

// countedAtMost is up to how many assets a refusal counts what would go, more or less: it need not look through the whole graph.
func countedAtMost(limit int) int { return max(10*limit, 100_000) }

// scope says what a deletion may take along.
type scope struct {
	withDependants bool
	// by asks: one without the role takes nothing along of another owner's. What would have to go stands against it, and a
	// shared target of theirs stays. Nil: everything may go.
	by *Caller
	// owner, when it is given, narrows everything to this owner's assets, and each goes by a deletion of its own; what
	// others have stands against it, a child too, and a target stays until its own turn.
	owner string
	// most ends the search once more assets are found; 0: it finds all.
	most int
}

// closure is what the deletion of some assets, the roots, takes along, and what stands against it. It is found level by
// level, without recursion, and is the same code for a plan and for T1.
type closure struct {
	w      *world
	policy *policy.Policy
	scope
	around *around

	roots    map[string]bool
	order    []string            // the assets that go, the roots first
	why      map[string]string   // asset that goes → why
	root     map[string]string   // asset that goes → the root that it goes with
	hide     []Link              // detached links
	blockers map[string]string   // live or scheduled dependant that does not go → its link type
	named    []string            // of the first blockers, those that a plan may name
	shared   map[string]bool     // targets that may lose their last source
	last     map[string]bool     // of them, those that go because they did
	kept     map[string]bool     // of them, those that stay because they are held
	loose    []string            // of them, those to look at: nothing is known that keeps them
	keeps    map[string][]string // asset that does not go → those of them that it keeps
	// along and against are the edges that decide what stays when one asset must: what has to go with an asset, and the
	// dependants that only may not stay.
	along   map[string][]string
	against map[string][]string
}

// findClosure works out the closure of one root in a transaction; see findClosures.
func findClosure(ctx context.Context, w *world, p *policy.Policy, root string, by Caller, withDependants bool) (*closure, error) {
	limit := p.Limits.MaxAssetsPerDeletion
	return findClosures(ctx, w, p, []string{root}, scope{withDependants: withDependants, by: &by, most: countedAtMost(limit)}, limit)
}

// findClosures works out what the roots take along together: first without locks, to know what must be locked, then
// under them, until nothing new turns up. Above the limit nothing goes, so nothing is locked; nor is anything for a plan, so
// that one look is all it takes.
func findClosures(ctx context.Context, w *world, p *policy.Policy, roots []string, within scope, limit int) (*closure, error) {
	locked := map[string]bool{}
	for id := range w.nodes { // a lone asset needs no second look, however many only mention it
		locked[id] = true
	}
	var before []string // what the look before found
	for {
		c := newClosure(w, p, within)
		c.around.soon = before
		if err := c.find(ctx, roots); err != nil {
			return nil, err
		}
		if len(c.order) > limit {
			return c, nil
		}
		more := false
		for _, id := range c.decisive() {
			more = more || !locked[id]
			locked[id] = true
		}
		if !more {
			return c, nil
		}
		if err := w.load(ctx, Locks{Assets: slices.Sorted(maps.Keys(locked))}); err != nil || w.planning {
			return c, err
		}
		before = slices.AppendSeq(slices.Clone(c.order), maps.Keys(c.shared))
	}
}

func newClosure(w *world, p *policy.Policy, within scope) *closure {
	c := &closure{w: w, policy: p, scope: within, roots: map[string]bool{}, why: map[string]string{}, root: map[string]string{},
		blockers: map[string]string{}, shared: map[string]bool{}, last: map[string]bool{}, kept: map[string]bool{}, keeps: map[string][]string{},
		along: map[string][]string{}, against: map[string][]string{}}
	c.around = newAround(w, p, within, c.why)
	return c
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

// find walks from the roots until nothing more goes along.
func (c *closure) find(ctx context.Context, roots []string) error {
	var frontier []string
	for _, id := range roots {
		c.roots[id] = true
		frontier = c.take(frontier, id, "requested", id)
	}
	for len(frontier) > 0 && (c.most == 0 || len(c.order) <= c.most) {
		var next []string
		for chunk := range slices.Chunk(frontier, aroundChunk) {
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
	// A link goes with its source, unless one of both ends could come back alone.
	c.hide = slices.DeleteFunc(c.hide, func(l Link) bool { return c.why[l.From] != "" && c.root[l.From] == c.root[l.To] })
	return nil
}

// take adds an asset to those that go, once.
func (c *closure) take(list []string, id, why, root string) []string {
	if c.why[id] != "" {
		return list
	}
	if c.owner != "" {
		root = id
		c.roots[id] = true
	}
	c.why[id], c.root[id] = why, root
	c.order = append(c.order, id)
	c.loose = append(c.loose, c.keeps[id]...)
	delete(c.keeps, id)
	return append(list, id)
}

// step reads the links of a chunk of assets that go, and finds those that go with them.
func (c *closure) step(ctx context.Context, chunk []string) (next []string, err error) {
	if err := c.around.read(ctx, chunk); err != nil {
		return nil, err
	}
	err = c.around.sources(ctx, chunk, nil, func(src Source) bool {
		switch reaction := c.policy.Links[src.Type].OnTargetDelete; {
		case reaction == policy.Detach:
			c.hide = append(c.hide, src.Link)
		case src.Status == Live && c.reaches(src) && (reaction == policy.Cascade || c.withDependants && !c.roots[src.From]):
			if c.owner != "" && reaction == policy.Restrict { // it goes by a deletion of its own
				c.against[src.To] = append(c.against[src.To], src.From)
			} else {
				c.along[src.To] = append(c.along[src.To], src.From)
			}
			next = c.take(next, src.From, src.Type+" "+src.To, c.root[src.To])
		case reaction == policy.Restrict, !c.reaches(src):
			c.blockers[src.From] = src.Type
			c.against[src.To] = append(c.against[src.To], src.From)
		}
		return true
	})
	for _, id := range chunk {
		for _, to := range c.around.targets[id] {
			if !c.shared[to] {
				c.shared[to] = true
				c.loose = append(c.loose, to)
			}
		}
		c.around.forget(id)
	}
	return next, err
}

// reaches tells whether an asset is within the scope.
func (c *closure) reaches(src Source) bool {
	return (c.owner == "" || src.Owner == c.owner) && c.mayTake(src.Owner)
}

// mayTake tells whether who asks may take an owner's assets along.
func (c *closure) mayTake(owner string) bool { return c.by == nil || c.by.sees(owner) }

// lastSources finds the shared targets that nothing needs any more once everything found so far has gone. A held one stays.
func (c *closure) lastSources(ctx context.Context) (next []string, err error) {
	loose := slices.DeleteFunc(distinct(c.loose), func(id string) bool { return c.why[id] != "" || c.kept[id] })
	c.loose = nil
	for chunk := range slices.Chunk(loose, aroundChunk) {
		if err := c.around.readShared(ctx, chunk); err != nil {
			return nil, err
		}
		for _, id := range chunk {
			if next, err = c.lastSource(ctx, next, id); err != nil {
				return nil, err
			}
		}
	}
	return next, nil
}

// lastSource adds a shared target to those that go, if it does.
func (c *closure) lastSource(ctx context.Context, next []string, id string) ([]string, error) {
	n := c.around.nodes[id]
	keeper, users := "", []string{}
	if n.Status != Live || !c.mayTake(n.Owner) {
		c.around.forget(id)
		return next, nil
	}
	err := c.around.sources(ctx, []string{id}, needing(c.policy), func(src Source) bool {
		if c.why[src.From] == "" {
			keeper = src.From
		} else if c.policy.Links[src.Type].OnLastSourceDelete {
			users = append(users, src.From)
		}
		return keeper == ""
	})
	switch {
	case err != nil:
		return nil, err
	case keeper != "": // it is looked at again if that one goes
		c.keeps[keeper] = append(c.keeps[keeper], id)
	case n.Hold != nil:
		c.kept[id] = true
	default:
		c.last[id] = true
		for _, user := range users {
			c.along[user] = append(c.along[user], id)
		}
		return c.take(next, id, "its last source goes", c.root[users[len(users)-1]]), nil
	}
	c.around.forget(id)
	return next, nil
}
