package dependency

import (
	"fmt"

	"github.com/tombstone-project/tombstone/events"
)

// What may be done about violations. Tombstone's own transactions make none of them, so most mean that the graph or a store
// was changed past it, or restored.
const (
	doRetry    = "tombstone retry %s"
	doRestored = "if a store was restored, follow docs/operations.md; else the graph was changed past Tombstone: compare with a backup, and report it"
	doErase    = "find out who wrote it, or whether a store was restored; `tombstone verify --apply` erases it where it can be nobody else's"
	doObstacle = "remove the obstacle, and verify again"
)

// judge says what is wrong with a subject.
func (v *verifier) judge(s subject, f facts, seen events.Sight) []Violation {
	j := judgement{subject: s, facts: f}
	if s.deletion == "" {
		j.asset()
	} else {
		j.ofErasure(seen)
	}
	return j.found
}

// judgement is about one subject.
type judgement struct {
	subject
	facts
	found []Violation
}

func (j *judgement) add(guarantee, do, found string, args ...any) {
	j.found = append(j.found, Violation{Guarantee: guarantee, Asset: j.subject.asset, Generation: j.node.Generation, Deletion: j.facts.deletion.ID,
		Found: fmt.Sprintf(found, args...), Do: do})
}

func (j *judgement) asset() {
	n := j.node
	if n.ID == "" {
		return // gone meanwhile
	}
	j.linksOf(n)
	if j.trail.gap != 0 {
		j.add("G9", doRestored, "entry %d of its audit trail is missing, or there twice", j.trail.gap)
	} else if j.trail.last != n.Sequence {
		j.add("G9", doRestored, "its audit trail ends with entry %d, and the asset knows of %d", j.trail.last, n.Sequence)
	}
	if n.Status == Live {
		return
	}
	e, d := j.erasure, j.facts.deletion
	switch {
	case d.ID == "" || e.Deletion == "":
		j.add("G1", doRestored, "it is %s by deletion %s, of which the graph has no record", n.Status, n.Deletion)
	case e.Generation != n.Generation:
		j.add("G7", doRestored, "its deletion %s is of generation %s", d.ID, e.Generation)
	case d.Status == Cancelled:
		j.add("G1", doRestored, "it is %s, and its deletion was cancelled", n.Status)
	case n.Status == Deleted && !e.Done:
		j.add("G3", doRestored, "it is called deleted, and its deletion has not finished with it")
	case n.Status == Deleting && e.Done:
		j.add("G1", doRestored, "its deletion has finished with it, and it is not called deleted")
	}
}

// linksOf is G4: nothing that lives is tied to a tombstone, and what is deleted has no links at all.
func (j *judgement) linksOf(n Node) {
	for _, l := range j.links {
		end := j.ends[l.To]
		switch {
		case n.Status == Deleted:
			j.add("G4", doRestored, "it is deleted, and has the link %s to %q", l.Type, l.To)
		case n.Status == Live && l.Hidden == "" && end != Live:
			j.add("G4", "unlink the two, or delete this asset too", "it is live, and has the link %s to %q, which is %s", l.Type, l.To, end)
		}
	}
}

// ofErasure judges what a deletion does to an asset, or has done.
func (j *judgement) ofErasure(seen events.Sight) {
	e, d := j.erasure, j.facts.deletion
	if e.Deletion == "" || d.ID == "" {
		return // gone meanwhile
	}
	if e.Asset == d.Root {
		j.transitions(d)
	}
	switch {
	case !e.Done:
		j.open(e, d)
	case d.Status == Cancelled || d.Status == Scheduled:
		j.add("G1", doRestored, "the deletion is %s, and yet has finished with the asset", d.Status)
	default:
		j.done(e, d)
		j.absent(e, seen)
	}
}

// transitions is G9 for the deletion as a whole, in the trail of its root.
func (j *judgement) transitions(d DeletionRecord) {
	for _, t := range []struct {
		kind string
		want bool
	}{{events.TypeDeletionRequested, true}, {events.TypeDeletionCompleted, d.Status == Deleted}, {events.TypeDeletionCancelled, d.Status == Cancelled}} {
		switch n := j.trail.types[t.kind]; {
		case t.want && n == 0:
			j.add("G9", doRestored, "the deletion is %s, and the audit trail has no %s of it", d.Status, t.kind)
		case !t.want && n > 0:
			j.add("G9", doRestored, "the deletion is %s, and the audit trail has a %s of it", d.Status, t.kind)
		case n > 1:
			j.add("G5", doRestored, "the audit trail has %s of the deletion %d times", t.kind, n)
		}
	}
}

// open is G1 for what is not done: it is somebody's affair, and will be looked at again.
func (j *judgement) open(e Erasure, d DeletionRecord) {
	switch {
	case d.Status == Cancelled:
		if j.flagged {
			j.add("G1", doRestored, "the deletion is cancelled, and has a command flag still")
		}
	case d.Status == Deleted:
		j.add("G1", doRestored, "the deletion is called deleted, and has not finished with the asset")
	case !concerns(j.node, d, e):
		j.add("G1", doRestored, "the deletion is %s, and the asset is %s in generation %s: nobody will finish it", d.Status, j.node.Status, j.node.Generation)
	case d.Status == Scheduled && !j.flagged:
		j.add("G1", "tombstone cancel "+d.ID+", and delete again", "the deletion is scheduled, and has no command flag: it would never begin")
	case d.Status == Deleting && !j.flagged && e.CheckAt.IsZero():
		j.add("G1", fmt.Sprintf(doRetry, d.ID), "the deletion is deleting, and has neither a command flag nor a time at which it is looked at again")
	}
}

// done is what the graph must say of an asset, or of a part, that an erasure has finished with.
func (j *judgement) done(e Erasure, d DeletionRecord) {
	n := j.node
	if d.part() == "" && n.Generation == e.Generation && (n.Status != Deleted || n.Deletion != d.ID) {
		j.add("G5", doRestored, "the deletion has finished with this generation, and the asset is %s by deletion %q", n.Status, n.Deletion)
	}
	if d.part() == "" {
		j.once(events.TypeAssetErased)
	}
	for _, step := range e.Steps {
		if step.Status != StepErased {
			j.add("G3", doRestored, "the deletion has finished with the asset without evidence of part %q", step.Part)
			j.ofPart(step)
		}
		if n.Status == Live && partState(n, step.Part).Status == PartPresent && partState(n, step.Part).Generation == step.Generation {
			j.add("G7", doRestored, "the part is called present in the generation that the deletion has erased")
			j.ofPart(step)
		}
	}
}

// ofPart makes the last violation one of a part.
func (j *judgement) ofPart(step Step) {
	last := &j.found[len(j.found)-1]
	last.Part, last.Generation = step.Part, step.Generation
}

// once wants one entry of a type.
func (j *judgement) once(kind string) {
	switch n := j.trail.types[kind]; {
	case n == 0:
		j.add("G9", doRestored, "the deletion has finished with the asset, and the audit trail has no %s of it", kind)
	case n > 1:
		j.add("G5", doRestored, "the audit trail has %s of the deletion %d times", kind, n)
	}
}

// absent is G3: nothing lies where everything was erased.
func (j *judgement) absent(e Erasure, seen events.Sight) {
	for _, step := range e.Steps {
		var found []events.Thing
		for _, t := range seen.Found {
			if t.Part == step.Part {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			j.add("G3", doErase, "the part is erased, and there %s", whatLies(found))
			j.ofPart(step)
		}
		for _, u := range seen.Unseen {
			known := j.node.Generation == e.Generation                                  // where an older generation was may not be known any more
			if u.Part == step.Part && known && u.Reason != events.ReasonBucketMissing { // in a bucket that is gone there is nothing
				j.add("G3", doObstacle, "the part is erased, and nobody can look whether it is: %s", u)
				j.ofPart(step)
			}
		}
	}
}

// whatLies counts things for a sentence, and names the first.
func whatLies(found []events.Thing) string {
	first := found[0]
	what := fmt.Sprintf("a %s at %s/%s", first.Form, first.Bucket+first.Collection, first.Key)
	if len(found) == 1 {
		return "lies " + what
	}
	return fmt.Sprintf("lie %d things, %s the first", len(found), what)
}

// judgeSums wants a deletion's sums to be those of its erasures.
func judgeSums(d DeletionRecord, all []Erasure) (found []Violation) {
	done := 0
	for _, e := range all {
		if e.Done {
			done++
		}
	}
	if len(all) != d.Total || done != d.Done {
		found = append(found, Violation{Guarantee: "G1", Asset: d.Root, Deletion: d.ID, Do: doRestored,
			Found: fmt.Sprintf("the deletion counts %d assets, %d of them done; there are %d, %d of them done", d.Total, d.Done, len(all), done)})
	}
	return found
}
