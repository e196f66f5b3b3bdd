package dependency

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// maxSet bounds the ids of one set (CONTRACT section 5).
const maxSet = 1000

// DeleteSet is T1 for a set of assets. They are decided on together: each has a deletion of its own, which takes along
// what goes with it.
func (s *Service) DeleteSet(ctx context.Context, r SetRequest) (SetAnswer, error) {
	by, err := caller(ctx)
	if err != nil {
		return SetAnswer{}, err
	}
	if len(r.IDs) == 0 || len(r.IDs) > maxSet {
		return SetAnswer{}, problem.New(problem.InvalidRequest, "ids has %d members; name 1 to %d assets", len(r.IDs), maxSet).At("ids")
	}
	set := newSet(s, by, r)
	var accepted acceptedWork
	err = s.graph.Update(ctx, func(tx Tx) error {
		accepted = acceptedWork{}
		w := &acceptWorld{world: newWorld(tx, s.now()), s: s}
		if err := set.accept(ctx, w); err != nil {
			return err
		}
		accepted.add(w.world)
		return nil
	})
	if err != nil {
		return SetAnswer{}, err
	}
	s.handOver(accepted)
	return set.answer(), nil
}

// setWork is one set in hand.
type setWork struct {
	s       *Service
	by      Caller
	request SetRequest
	ids     []string         // the legal ones, without repeats
	illegal map[string]error // the others

	batch    string
	accepted map[string]Deletion // by id, also those that ran already
	refused  map[string]error
}

func newSet(s *Service, by Caller, r SetRequest) *setWork {
	set := &setWork{s: s, by: by, request: r, illegal: map[string]error{}}
	for _, id := range r.IDs {
		if err := policy.ValidateID(id); err != nil {
			set.illegal[id] = err
			continue
		}
		set.ids = append(set.ids, id)
	}
	set.ids = distinct(set.ids)
	return set
}

// accept decides on the set in one transaction.
func (set *setWork) accept(ctx context.Context, w *acceptWorld) error {
	set.batch, set.accepted, set.refused = newID(), map[string]Deletion{}, map[string]error{}
	if err := w.readSet(ctx, set.ids); err != nil {
		return err
	}
	roots, err := set.candidates(ctx, w)
	if err != nil {
		return err
	}
	limit := w.s.policy.Limits.MaxAssetsPerDeletion
	most := limit + len(roots)
	c, err := w.closeSet(ctx, roots, scope{withDependants: set.request.WithDependants, by: &set.by}, most, set.refused)
	if err != nil {
		return err
	}
	if len(c.order) > most {
		set.refuseAll(roots, len(c.order), limit)
		c = newClosure(w.world, w.s.policy, scope{})
	}
	set.entomb(w, c)
	if err := set.unname(ctx, w.tx); err != nil {
		return err
	}
	batch := BatchRecord{ID: set.batch, Owner: set.by.Owner, RequestedBy: set.by.Subject, Reason: set.request.Reason,
		TraceParent: set.request.TraceParent, RequestedAt: w.now, CompletedAt: w.now}
	if err := w.tx.SaveBatches(ctx, []BatchRecord{batch}); err != nil {
		return err
	}
	if err := w.tx.SaveRefusals(ctx, refusalsOf(set.batch, set.refused)); err != nil {
		return err
	}
	return w.flush(ctx)
}

// unname takes the assets of other owners out of the refusals; they still count.
func (set *setWork) unname(ctx context.Context, tx Tx) error {
	if set.by.Operator {
		return nil
	}
	for id, err := range set.refused {
		if !problemNamed(err, problem.HasDependants) {
			continue
		}
		told := problem.As(err).Members
		first, err := seenBy(ctx, tx, set.by, told["dependants"].([]string))
		if err != nil {
			return err
		}
		set.refused[id] = hasDependants(id, Dependants{First: first, Total: told["dependants_total"].(int)})
	}
	return nil
}

// readSet locks and reads the assets of a set, and the deletions that run already.
func (w *acceptWorld) readSet(ctx context.Context, ids []string) error {
	if err := w.load(ctx, Locks{Assets: ids}); err != nil {
		return err
	}
	var err error
	if _, w.paused, err = paused(ctx, w.tx); err != nil {
		return err
	}
	var dids []string
	for _, n := range w.nodes {
		dids = append(dids, n.Deletion)
	}
	w.running, err = w.tx.Deletions(ctx, distinct(dids))
	return err
}

// candidates are the ids that nothing of their own stands against; what runs already is its own answer.
func (set *setWork) candidates(ctx context.Context, w *acceptWorld) (roots []string, err error) {
	for _, id := range set.ids {
		n, ok := w.nodes[id]
		switch {
		case !ok || !set.by.sees(n.Owner):
			set.refused[id] = assetNotFound(id)
		case n.Status != Live:
			res := w.repeat(ctx, n.Deletion)
			if res.err != nil {
				return nil, res.err
			}
			set.accepted[id] = res.deletion
		case n.Hold != nil:
			set.refused[id] = onHold(n)
		default:
			roots = append(roots, id)
		}
	}
	return roots, nil
}

// closeSet works out which of the roots may go together, and what goes with them; those that may not are added to
// refused. What a refused root kept is decided again without it, until nothing more is refused. A closure of more than most
// assets is given back undecided.
func (w *acceptWorld) closeSet(ctx context.Context, roots []string, within scope, most int, refused map[string]error) (*closure, error) {
	for {
		c, err := findClosures(ctx, w.world, w.s.policy, roots, within, most)
		if err != nil || len(c.order) > most {
			return c, err
		}
		if err := w.readClaims(ctx, w.s.policy); err != nil {
			return nil, err
		}
		stay := c.refusals(w.s.policy.Limits.MaxAssetsPerDeletion)
		if len(stay) == 0 {
			return c, nil
		}
		maps.Copy(refused, stay)
		roots = slices.DeleteFunc(slices.Clone(roots), func(id string) bool { return refused[id] != nil })
	}
}

// refuseAll refuses what together would be too much for one transaction.
func (set *setWork) refuseAll(roots []string, total, limit int) {
	for _, id := range roots {
		set.refused[id] = problem.New(problem.TooManyAssets,
			"together these would delete %d assets, more than limits.max_assets_per_deletion (%d) beside them; ask for fewer at a time, or raise the limit",
			total, limit).With("assets_total", total)
	}
}

// entomb makes the deletions of a closure, one for each root.
func (set *setWork) entomb(w *acceptWorld, c *closure) {
	for root, d := range w.entombRoots(c, acceptItem{by: set.by, batch: set.batch,
		DeleteRequest: DeleteRequest{Reason: set.request.Reason, TraceParent: set.request.TraceParent}}) {
		set.accepted[root] = d
	}
}

// entombRoots makes a deletion for each root of a closure, of what goes with it. What is detached comes back with the
// deletion of its target.
func (w *acceptWorld) entombRoots(c *closure, it acceptItem) map[string]Deletion {
	members := map[string][]string{}
	for _, id := range c.order {
		members[c.root[id]] = append(members[c.root[id]], id)
	}
	made := map[string]Deletion{}
	for _, id := range c.order {
		if c.root[id] != id {
			continue
		}
		before := len(w.erasures)
		d := w.entomb(it, members[id], c.why)
		shown, next := firstSteps(w.erasures[before:])
		made[id] = w.s.deletionView(d, shown, next)
	}
	for _, l := range c.hide {
		l.Hidden = made[c.root[l.To]].ID
		w.saveLinks = append(w.saveLinks, l)
	}
	return made
}

// refusalsOf are the records of what a batch leaves.
func refusalsOf(batch string, refused map[string]error) (list []Refusal) {
	for id, err := range refused {
		if p := problem.As(err); p != nil {
			list = append(list, Refusal{Batch: batch, Asset: id, Name: string(p.Name), Detail: p.Detail, Members: p.Members})
		}
	}
	return list
}

func (set *setWork) answer() SetAnswer {
	out := SetAnswer{Batch: set.batch, Results: make([]SetResult, len(set.request.IDs))}
	for i, id := range set.request.IDs {
		out.Results[i].ID = id
		if d, ok := set.accepted[id]; ok {
			out.Results[i].Deletion = &d
			continue
		}
		out.Results[i].Refusal = problem.As(errors.Join(set.illegal[id], set.refused[id]))
	}
	return out
}
