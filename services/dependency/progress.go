package dependency

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/events"
)

// maxRest is the longest rest that a report may ask for: workers ask for an hour at most (saga.Backoff.ParkMax), and
// whoever says more must not be able to put a deletion off for ever.
const maxRest = time.Hour

// progress notes a sign of life. With a next try the broker holds the command no longer, and the graph flags it again at
// that time; else the erasure is looked at again after resend_after without any further sign.
func (w *reportWorld) progress(e *Erasure, d *DeletionRecord, r *events.PartProgress) {
	e.CheckAt = w.now.Add(w.s.policy.ResendAfter)
	next := r.NextTry
	if next != nil {
		soon := next.UTC()
		if latest := w.now.Add(maxRest); soon.After(latest) {
			soon = latest
		}
		next, e.CheckAt = &soon, soon
	}
	blocked := r.Status == events.ProgressBlocked
	for i := range e.Steps {
		step := &e.Steps[i]
		if step.Status == StepErased || r.Part != "" && step.Part != r.Part {
			continue
		}
		step.Status, step.Attempts, step.LastError, step.NextTry = StepErasing, max(step.Attempts, r.Attempts), r.LastError, next
		if blocked {
			step.Status = StepBlocked
		}
	}
	if !blocked {
		w.unblock(e, d, r.Part)
		return
	}
	now := &Blocked{Asset: e.Asset, Part: r.Part, Reason: r.Reason, Until: r.Until}
	if was := d.Blocked; was == nil || was.Asset != now.Asset || was.Part != now.Part || was.Reason != now.Reason {
		w.tell(e.Asset, Entry{Type: events.TypeDeletionBlocked, Deletion: d.ID, Generation: e.Generation, By: d.RequestedBy, Reason: d.Reason,
			Part: r.Part, Detail: r.Reason})
	}
	d.Blocked = now
}

// unblock takes the mark off a deletion when the part that it named goes on.
func (w *reportWorld) unblock(e *Erasure, d *DeletionRecord, part string) {
	if b := d.Blocked; b != nil && b.Asset == e.Asset && (part == "" || b.Part == part) {
		d.Blocked = nil
	}
}

// partErased notes the evidence of one part, once: what stands is not replaced by a repeat.
func (w *reportWorld) partErased(e *Erasure, d *DeletionRecord, ev events.PartEvidence) {
	i := slices.IndexFunc(e.Steps, func(s Step) bool { return s.Part == ev.Part })
	if i < 0 || e.Steps[i].Status == StepErased || e.Steps[i].Generation != ev.Generation {
		return
	}
	at := ev.SeenAbsentAt.UTC().Truncate(time.Microsecond)
	e.Steps[i] = Step{Part: ev.Part, Generation: ev.Generation, Status: StepErased, Documents: ev.Documents, Objects: ev.Objects, Bytes: ev.Bytes,
		Attempts: max(ev.Attempts, e.Steps[i].Attempts), ErasedAt: &at}
	e.CheckAt = w.now.Add(w.s.policy.ResendAfter)
	w.erased += ev.Bytes
	w.unblock(e, d, ev.Part)
	evidence, err := json.Marshal(ev)
	if err != nil { // a struct of strings, numbers and a time always encodes
		panic(err)
	}
	w.tell(e.Asset, Entry{Type: events.TypePartErased, Deletion: d.ID, Generation: e.Generation, By: d.RequestedBy, Reason: d.Reason,
		Part: ev.Part, Evidence: evidence})
}

// erasedParts is what a deleted asset tells of its parts.
func erasedParts(e Erasure, reason string) map[string]PartState {
	parts := map[string]PartState{}
	for _, s := range e.Steps {
		parts[s.Part] = PartState{Status: PartErased, Generation: s.Generation, Deletion: e.Deletion, ErasedAt: s.ErasedAt, Reason: s.erasedBecause(reason)}
	}
	return parts
}

// erasedBecause is why a part is gone: the deletion's reason, or an operator's who gave it up.
func (s Step) erasedBecause(reason string) string {
	if s.Forced != "" {
		return forcedDetail + s.Forced
	}
	return reason
}

func flagIDs(commands []Command) (ids []string) {
	for _, c := range commands {
		ids = append(ids, c.ID)
	}
	return ids
}
