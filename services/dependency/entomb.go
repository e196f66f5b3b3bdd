package dependency

import (
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// entomb turns nodes into tombstones, the root first, with their deletion, their flags and the first line of the trail.
// due_at is the later of the longest grace and the last upload that may still come.
func (w *acceptWorld) entomb(it acceptItem, ids []string, why map[string]string) DeletionRecord {
	d := w.deletionOf(it, ids)
	for position, id := range ids {
		w.entombOne(d, position, w.nodes[id], why[id])
	}
	w.request(d)
	return d
}

// deletionOf is the record of the deletion of these assets, or of a part of the one.
func (w *acceptWorld) deletionOf(it acceptItem, ids []string) DeletionRecord {
	root := w.nodes[ids[0]]
	d := DeletionRecord{ID: newID(), Root: root.ID, Owner: root.Owner, Status: Deleting, RequestedBy: it.by.Subject, Reason: it.Reason,
		TraceParent: it.TraceParent, Batch: it.batch, Policy: w.s.policy.Hash, RequestedAt: w.now, DueAt: w.dueAt(ids), Total: len(ids)}
	if d.DueAt.After(w.now) { // the claim that begins it comes when it is due
		d.Status = Scheduled
	}
	return d
}

// request adds a deletion, with the first line of its trail.
func (w *acceptWorld) request(d DeletionRecord) {
	w.running[d.ID] = d
	w.deletions = append(w.deletions, d)
	w.tell(d.Root, Entry{Type: events.TypeDeletionRequested, Deletion: d.ID, Generation: w.nodes[d.Root].Generation, By: d.RequestedBy, Reason: d.Reason,
		Part: d.part()})
}

// dueAt is the latest, over all assets that go, of request and grace, and of the last upload's deadline and the margin; never
// a sum of both. Leases do not count: the tombstone revokes them.
func (w *acceptWorld) dueAt(ids []string) time.Time {
	due := w.now
	for _, id := range ids {
		n := w.nodes[id]
		if kind, ok := w.s.policy.Kind(n.Kind); ok {
			due = later(due, w.now.Add(kind.Grace))
		}
		if !n.GrantedUntil.IsZero() {
			due = later(due, n.GrantedUntil.Add(w.s.policy.Grants.Margin))
		}
	}
	return due
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (w *acceptWorld) entombOne(d DeletionRecord, position int, n Node, why string) {
	kind, _ := w.s.policy.Kind(n.Kind)
	e := Erasure{Deletion: d.ID, Asset: n.ID, Position: position, Kind: n.Kind, Owner: n.Owner, Generation: n.Generation, Why: why}
	e.Parts, e.Steps = partsOf(n, kind)
	w.erase(d, e)
	n.Status, n.Deletion, n.RequestedAt, n.DueAt, n.Lease = Deleting, d.ID, d.RequestedAt, d.DueAt, nil
	w.save(n)
	w.account(n.Owner, 0, 0, n.Bytes)
}

// erase adds an erasure with its flag.
func (w *acceptWorld) erase(d DeletionRecord, e Erasure) {
	c := Command{ID: newID(), Deletion: d.ID, Asset: e.Asset, DueAt: d.DueAt, Since: w.now}
	if d.Status == Deleting {
		e.CheckAt = w.now.Add(w.s.policy.ResendAfter)
		if !w.paused {
			c.ClaimedBy, c.ClaimedUntil = w.s.cfg.Replica, w.now.Add(w.s.cfg.ClaimFor)
		}
	}
	w.erasures, w.commands = append(w.erasures, e), append(w.commands, c)
}

// partsOf gives the steps of an erasure, and the generations of its parts where they are not simply the asset's.
func partsOf(n Node, kind *policy.Kind) (parts map[string]string, steps []Step) {
	if kind == nil {
		return nil, nil
	}
	for _, p := range kind.Parts {
		step := Step{Part: p.Name, Generation: n.Generation, Status: StepWaiting}
		if own, ok := n.Parts[p.Name]; ok {
			step.Generation = own.holds()
		}
		steps = append(steps, step)
	}
	if slices.ContainsFunc(steps, func(s Step) bool { return s.Generation != n.Generation }) {
		parts = map[string]string{}
		for _, s := range steps {
			parts[s.Part] = s.Generation
		}
	}
	return parts, steps
}
