package dependency

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// Plan tells what the deletion of an asset would take. The code that carries deletions out works it out, but without a
// lock, so that it hinders nobody; it is true for the moment in which it was looked.
func (s *Service) Plan(ctx context.Context, id string, r PlanRequest) (Plan, error) {
	by, err := caller(ctx)
	if err != nil {
		return Plan{}, err
	}
	c, err := s.planClosure(ctx, by, id, r.WithDependants)
	if err != nil {
		return Plan{}, err
	}
	out := c.plan()
	if r.GraphOnly {
		return out, nil
	}
	sum := c.sum()
	err = s.lookInto(ctx, c, func(asset string, t events.Thing) {
		if t.Form == events.FormDocument {
			out.Documents = append(out.Documents, PlannedDocument{Asset: asset, Part: t.Part, Collection: t.Collection, Key: t.Key})
			return
		}
		sum.addObject(t)
		out.Objects = append(out.Objects, PlannedObject{Asset: asset, Part: t.Part, Bucket: t.Bucket, Key: t.Key, Version: t.Version, Bytes: t.Bytes,
			Marker: t.Form == events.FormMarker, Upload: t.Form == events.FormUpload})
	})
	out.Hash, out.Bytes = sum.hash().String(), sum.bytes
	if err == nil {
		s.plans.keep(by, out)
	}
	return out, err
}

// planNow is the hash of a plan as of now: what If-Plan is compared with.
func (s *Service) planNow(ctx context.Context, it acceptItem) (planHash, error) {
	c, err := s.planClosure(ctx, it.by, it.id, it.WithDependants)
	if err != nil {
		return planHash{}, err
	}
	sum := c.sum()
	err = s.lookInto(ctx, c, func(_ string, t events.Thing) {
		if t.Form != events.FormDocument {
			sum.addObject(t)
		}
	})
	return sum.hash(), err
}

// planClosure finds what the deletion of an asset would take of the graph. It refuses what is no live asset, and what is too
// large to be deleted at once.
func (s *Service) planClosure(ctx context.Context, by Caller, id string, withDependants bool) (*closure, error) {
	if err := policy.ValidateID(id); err != nil {
		return nil, assetNotFound(id)
	}
	var c *closure
	err := s.graph.View(ctx, func(tx Tx) error {
		n, err := visible(ctx, tx, by, id)
		if err != nil {
			return err
		}
		if n.Status != Live {
			return problem.New(problem.DeletionInProgress, "asset %q is %s by deletion %s", id, n.Status, n.Deletion).With("deletion", n.Deletion)
		}
		w := newWorld(tx, s.now())
		w.planning = true
		if c, err = findClosure(ctx, w, s.policy, id, by, withDependants); err != nil {
			return err
		}
		if err := c.tooMany(); err != nil {
			return err
		}
		if err := w.readClaims(ctx, s.policy); err != nil {
			return err
		}
		all := distinct(keysOf(c.blockers))
		c.named, err = seenBy(ctx, tx, by, all[:min(len(all), namesShown)])
		return err
	})
	return c, err
}

// plan is what the graph tells of a plan.
func (c *closure) plan() Plan {
	p := Plan{Assets: []PlannedAsset{}, Links: []PlannedLink{}, Documents: []PlannedDocument{}, Objects: []PlannedObject{}, Blockers: []Blocker{},
		Kept: slices.AppendSeq([]string{}, maps.Keys(c.kept))}
	slices.Sort(p.Kept)
	for _, id := range c.order {
		p.Assets = append(p.Assets, PlannedAsset{ID: id, Generation: c.generation(id), Why: c.why[id]})
		if c.w.nodes[id].Hold != nil {
			p.Blockers = append(p.Blockers, Blocker{Type: BlockedByHold, Asset: id})
		}
		if c.w.contested[id] != "" {
			p.Blockers = append(p.Blockers, Blocker{Type: BlockedByPlace, Asset: id})
		}
	}
	p.BlockersTotal = len(p.Blockers) + len(distinct(keysOf(c.blockers)))
	for _, id := range c.named {
		p.Blockers = append(p.Blockers, Blocker{Type: c.blockers[id], Asset: id})
	}
	p.Blockers = p.Blockers[:min(len(p.Blockers), namesShown)]
	for _, l := range c.hide {
		p.Links = append(p.Links, PlannedLink{From: l.From, Type: l.Type, To: l.To})
	}
	return p
}

// generation is that of an asset as the graph has it; an adopted one has none before its first contact with us.
func (c *closure) generation(id string) string {
	if n, ok := c.w.adopted[id]; ok {
		return n.Generation
	}
	return c.w.nodes[id].Generation
}

// lookInto looks at all places of all assets of a closure, and hands over what lies there with its asset. What cannot be
// looked into makes it fail: a plan that does not tell all is none.
func (s *Service) lookInto(ctx context.Context, c *closure, each func(asset string, t events.Thing)) error {
	var targets []events.Target
	for _, id := range c.order {
		n := c.w.nodes[id]
		kind, known := s.policy.Kind(n.Kind)
		if known && len(kind.Parts) == 0 {
			continue
		}
		e := Erasure{Asset: id, Kind: n.Kind, Owner: n.Owner, Generation: n.Generation}
		e.Parts, _ = partsOf(n, kind)
		targets = append(targets, targetOf(e, kind, n.Attributes))
	}
	return s.lookAll(ctx, targets, func(i int, seen events.Sight) error {
		for _, u := range seen.Unseen {
			return problem.New(problem.Unavailable, "part %q of asset %q cannot be looked into: %s", u.Part, targets[i].Asset, u).With("store", "asset service")
		}
		for _, t := range seen.Found {
			each(targets[i].Asset, t)
		}
		return nil
	})
}

// planChanged refuses a deletion whose plan is another one by now, with what differs.
func planChanged(d PlanDifference, now planHash) error {
	return problem.New(problem.PlanChanged, "the plan is another one now: %s; look at it again", d).
		With("difference", d).With("hash", now.String())
}

// difference counts what differs between the agreed plan and the one now.
func difference(agreed string, now planHash) PlanDifference {
	before, known := parsePlan(agreed)
	d := PlanDifference{}
	for _, m := range []struct {
		name        string
		same        bool
		before, now int64
	}{
		{"assets", before.assets == now.assets, before.assets.count, now.assets.count},
		{"links", before.links == now.links, before.links.count, now.links.count},
		{"objects", before.objects == now.objects, before.objects.count, now.objects.count},
		{"bytes", before.bytes == now.bytes, before.bytes, now.bytes},
	} {
		switch {
		case !known:
			d[m.name] = PlannedAndNow{Now: m.now}
		case !m.same:
			d[m.name] = PlannedAndNow{Planned: &m.before, Now: m.now}
		}
	}
	return d
}

// String tells the difference in words.
func (d PlanDifference) String() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(d)) {
		m := d[name]
		switch {
		case m.Planned == nil:
			words = append(words, fmt.Sprintf("%d %s", m.Now, name))
		case *m.Planned == m.Now:
			words = append(words, fmt.Sprintf("%d other %s", m.Now, name))
		default:
			words = append(words, fmt.Sprintf("%d %s, planned were %d", m.Now, name, *m.Planned))
		}
		words[len(words)-1] += quoteThings("came", m.Came) + quoteThings("went", m.Went)
	}
	return strings.Join(words, "; ")
}

// quoteThings names the first things for a sentence.
func quoteThings(verb string, things []PlannedThing) string {
	if len(things) == 0 {
		return ""
	}
	var names []string
	for _, t := range things[:min(len(things), 3)] {
		switch {
		case t.Key != "":
			names = append(names, fmt.Sprintf("%s/%s", t.Bucket, t.Key))
		case t.Type != "":
			names = append(names, fmt.Sprintf("%s %s %s", t.From, t.Type, t.To))
		default:
			names = append(names, t.Asset)
		}
	}
	return fmt.Sprintf(", %s: %s", verb, quoteSome(names, len(things)))
}
