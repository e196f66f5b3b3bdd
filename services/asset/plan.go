package asset

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// plan works out the parts of the command and their places, by our own policy: a command only says which. The graph is
// asked for the attributes where templates need them; it is false when the graph says that nothing is to be erased.
func (r *erasure) plan(ctx context.Context) (wanted bool, err error) {
	if r.command.Recheck > 0 {
		return r.planRecheck(ctx)
	}
	kind, ok := r.policy.Kind(r.command.Kind)
	if !ok {
		return false, &Blocked{Reason: ReasonKindNotInPolicy, Detail: r.command.Kind}
	}
	subject := policy.Subject{ID: r.command.Asset, Owner: r.command.Owner, Kind: r.command.Kind}
	if kind.UsesAttributes() {
		answer, err := r.question(ctx, r.command.Parts)
		if err != nil || !answer.Erase {
			return false, err
		}
		subject.Attributes = answer.Attributes
	}
	for _, p := range kind.Parts {
		if subject.Generation, ok = r.generationOf(p.Name); ok {
			r.add(p, subject)
		}
	}
	r.addUnknown(kind)
	return true, nil
}

// add takes a part in hand. One whose places cannot be worked out is blocked, the others go on.
func (r *erasure) add(p *policy.Part, s policy.Subject) {
	located, err := newPart(p, s)
	if err != nil {
		located = &part{name: p.Name, generation: s.Generation, err: err}
	}
	r.parts = append(r.parts, located)
}

// addUnknown takes in hand what the command names and the policy does not have, as blocked: whoever took such a part away
// must put it back, or what it holds would stay for ever.
func (r *erasure) addUnknown(kind *policy.Kind) {
	for _, name := range slices.Sorted(maps.Keys(r.command.Parts)) {
		if _, ok := kind.Part(name); !ok {
			blocked := &Blocked{Reason: ReasonPartNotInPolicy, Detail: fmt.Sprintf("kind %q has no such part", kind.Name)}
			r.parts = append(r.parts, &part{name: name, generation: r.command.Parts[name], err: blocked})
		}
	}
}

// generationOf tells the generation in which the command wants a part erased; false when it does not name it.
func (r *erasure) generationOf(part string) (string, bool) {
	if len(r.command.Parts) == 0 {
		return r.command.Generation, true
	}
	generation, ok := r.command.Parts[part]
	return generation, ok
}

// ask asks whether what was listed may be deleted now.
func (r *erasure) ask(ctx context.Context) (wanted bool, err error) {
	parts := map[string]string{}
	for _, p := range r.which((*part).active) {
		parts[p.name] = p.generation
	}
	answer, err := r.question(ctx, parts)
	if r.command.Recheck > 0 && err == nil && answer.Erase {
		r.keepOnly(answer.Only)
	}
	return answer.Erase, err
}

// question asks the graph. A yes for another owner or kind than the command's is a no: its places would be another's.
func (r *erasure) question(ctx context.Context, parts map[string]string) (events.Answer, error) {
	answer, err := r.stores.ask(ctx, events.Question{
		Deletion: r.command.Deletion, Asset: r.command.Asset, Generation: r.command.Generation, Parts: parts,
		Recheck: r.command.Recheck,
	})
	if err != nil {
		return events.Answer{}, fmt.Errorf("ask the graph: %w", err)
	}
	if answer.Paused {
		return events.Answer{}, &Blocked{Reason: ReasonPaused}
	}
	if answer.Erase && (answer.Owner != r.command.Owner || answer.Kind != r.command.Kind) {
		answer = events.Answer{Why: fmt.Sprintf("the asset is a %q of %q", answer.Kind, answer.Owner)}
	}
	if !answer.Erase {
		r.log.WarnContext(ctx, "erase command is not wanted by the graph",
			"deletion", r.command.Deletion, "asset", r.command.Asset, "why", answer.Why)
	}
	return answer, nil
}
