package dependency

import (
	"context"
	"sync"
)

const (
	// plansKept bounds the things that all plans in memory name together, so some 30 MB.
	plansKept = 100_000
	// changesNamed is how many of what came or went a refusal names.
	changesNamed = 100
)

// keptPlans are the plans that this process gave out last, so that it can be named what is another by now. They are a
// help: after a restart, and by another replica, differences are only counted.
type keptPlans struct {
	mu     sync.Mutex
	plans  map[planKey]Plan
	order  []planKey // the oldest first
	things int
}

// planKey is who was given the plan, and its hash.
type planKey struct{ subject, hash string }

func (p Plan) things() int { return len(p.Assets) + len(p.Links) + len(p.Objects) }

func (k *keptPlans) keep(by Caller, p Plan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := planKey{by.Subject, p.Hash}
	if _, known := k.plans[key]; known || p.things() > plansKept/2 {
		return
	}
	if k.plans == nil {
		k.plans = map[planKey]Plan{}
	}
	p.Documents, p.Blockers, p.Kept = nil, nil, nil
	k.plans[key], k.order, k.things = p, append(k.order, key), k.things+p.things()
	for k.things > plansKept {
		k.things -= k.plans[k.order[0]].things()
		delete(k.plans, k.order[0])
		k.order = k.order[1:]
	}
}

func (k *keptPlans) of(by Caller, hash string) (Plan, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.plans[planKey{by.Subject, hash}]
	return p, ok
}

// nameChanges names, in a refusal because of another plan, what came and went since the agreed one was given, if that is
// known still.
func (s *Service) nameChanges(ctx context.Context, it acceptItem, refusal error) error {
	before, known := s.plans.of(it.by, it.IfPlan)
	if !known {
		return refusal
	}
	now, err := s.Plan(ctx, it.id, PlanRequest{WithDependants: it.WithDependants})
	hash, ok := parsePlan(now.Hash)
	if err != nil || !ok || now.Hash == it.IfPlan { // it has changed once more
		return refusal
	}
	d := difference(it.IfPlan, hash)
	d.name("assets", thingsOf(before.Assets), thingsOf(now.Assets))
	d.name("links", thingsOf(before.Links), thingsOf(now.Links))
	d.name("objects", thingsOf(before.Objects), thingsOf(now.Objects))
	return planChanged(d, hash)
}

// name adds what is in only one of two plans.
func (d PlanDifference) name(member string, before, now []PlannedThing) {
	m, differs := d[member]
	if !differs {
		return
	}
	m.Came, m.Went = missing(now, before), missing(before, now)
	d[member] = m
}

// missing gives the first of those that others lack.
func missing(things, others []PlannedThing) (first []PlannedThing) {
	known := map[PlannedThing]bool{}
	for _, t := range others {
		known[t] = true
	}
	for _, t := range things {
		if !known[t] && len(first) < changesNamed {
			first = append(first, t)
		}
	}
	return first
}

// thingsOf are the assets, links or objects of a plan as the hash tells them apart.
func thingsOf[T interface{ thing() PlannedThing }](list []T) []PlannedThing {
	things := make([]PlannedThing, len(list))
	for i, t := range list {
		things[i] = t.thing()
	}
	return things
}

func (a PlannedAsset) thing() PlannedThing {
	return PlannedThing{Asset: a.ID, Generation: a.Generation}
}

func (l PlannedLink) thing() PlannedThing { return PlannedThing{From: l.From, Type: l.Type, To: l.To} }

func (o PlannedObject) thing() PlannedThing {
	return PlannedThing{Bucket: o.Bucket, Key: o.Key, Version: o.Version}
}
