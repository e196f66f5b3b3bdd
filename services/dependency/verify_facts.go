package dependency

import (
	"cmp"
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// facts are what the graph has about a subject, as one transaction sees it.
type facts struct {
	node Node
	// deletion is the subject's, or the one that has made the asset a tombstone; erasure is what it does to the asset.
	deletion DeletionRecord
	erasure  Erasure
	flagged  bool
	links    []Link            // from the asset
	ends     map[string]Status // of their targets
	trail    trailFacts
	holders  map[string]string // of places made of attributes, which another asset may have by now
}

// trailFacts tell of the trail of an asset.
type trailFacts struct {
	last  int64          // sequence
	gap   int64          // the first sequence that is missing or there twice; 0: none
	types map[string]int // how many entries of each type are of the deletion in question
}

// readFacts reads everything about subjects in bulk, the trails one by one.
func (s *Service) readFacts(ctx context.Context, tx Tx, subjects []subject) (map[subject]facts, error) {
	r := factsReader{tx: tx, policy: s.policy, all: map[subject]facts{}}
	for _, step := range []func(context.Context, []subject) error{r.nodes, r.deletions, r.flags, r.links, r.places, r.trails} {
		if err := step(ctx, subjects); err != nil {
			return nil, err
		}
	}
	return r.all, nil
}

type factsReader struct {
	tx     Tx
	policy *policy.Policy
	all    map[subject]facts
}

func (r factsReader) nodes(ctx context.Context, subjects []subject) error {
	var ids []string
	for _, s := range subjects {
		ids = append(ids, s.asset)
	}
	nodes, err := r.tx.Nodes(ctx, distinct(ids))
	for _, s := range subjects {
		r.all[s] = facts{node: nodes[s.asset]}
	}
	return err
}

// key is the erasure that a subject is judged by; without a deletion when there is none.
func (r factsReader) key(s subject) ErasureKey {
	return ErasureKey{cmp.Or(s.deletion, r.all[s].node.Deletion), s.asset}
}

func (r factsReader) deletions(ctx context.Context, subjects []subject) error {
	var keys []ErasureKey
	for _, s := range subjects {
		if k := r.key(s); k.Deletion != "" {
			keys = append(keys, k)
		}
	}
	records, err := r.tx.Deletions(ctx, deletionIDs(keys))
	if err != nil {
		return err
	}
	erasures, err := r.tx.Erasures(ctx, keys)
	for _, s := range subjects {
		f, k := r.all[s], r.key(s)
		f.deletion, f.erasure = records[k.Deletion], erasures[k]
		r.all[s] = f
	}
	return err
}

// flags finds the flags of what is not done.
func (r factsReader) flags(ctx context.Context, subjects []subject) error {
	var open []ErasureKey
	for _, s := range subjects {
		if f := r.all[s]; f.erasure.Deletion != "" && !f.erasure.Done {
			open = append(open, r.key(s))
		}
	}
	if len(open) == 0 {
		return nil // no key would mean all
	}
	commands, err := r.tx.Commands(ctx, CommandFilter{Erasures: open})
	flagged := map[ErasureKey]bool{}
	for _, c := range commands {
		flagged[ErasureKey{c.Deletion, c.Asset}] = true
	}
	for _, s := range subjects {
		f := r.all[s]
		f.flagged = flagged[r.key(s)]
		r.all[s] = f
	}
	return err
}

// links reads the outgoing links of assets, and then what has become of their targets.
func (r factsReader) links(ctx context.Context, subjects []subject) error {
	var ids []string
	for _, s := range subjects {
		if s.deletion == "" {
			ids = append(ids, s.asset)
		}
	}
	links, err := r.tx.Outgoing(ctx, ids)
	if err != nil || len(links) == 0 {
		return err
	}
	from := map[string][]Link{}
	var targets []string
	for _, l := range links {
		from[l.From], targets = append(from[l.From], l), append(targets, l.To)
	}
	ends, err := r.tx.Nodes(ctx, distinct(targets))
	for _, s := range subjects {
		if s.deletion != "" || len(from[s.asset]) == 0 {
			continue
		}
		f := r.all[s]
		f.links, f.ends = from[s.asset], map[string]Status{}
		slices.SortFunc(f.links, func(a, b Link) int { return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Type, b.Type)) })
		for _, l := range f.links {
			f.ends[l.To] = ends[l.To].Status
		}
		r.all[s] = f
	}
	return err
}

// places finds who holds the places that are made of attributes. Those of a purged asset are not known any more.
func (r factsReader) places(ctx context.Context, subjects []subject) error {
	claims := map[subject][]string{}
	var all []string
	for _, s := range subjects {
		f := r.all[s]
		kind, ok := r.policy.Kind(f.node.Kind)
		if s.deletion == "" || !ok {
			continue
		}
		if places, err := kind.Claims(subjectOf(f.node)); err == nil { // else a place cannot be worked out any more
			claims[s], all = places, append(all, places...)
		}
	}
	holders, err := r.tx.Places(ctx, distinct(all))
	for s, places := range claims {
		f := r.all[s]
		f.holders = map[string]string{}
		for _, place := range places {
			if holder, ok := holders[place]; ok {
				f.holders[place] = holder
			}
		}
		r.all[s] = f
	}
	return err
}

func (r factsReader) trails(ctx context.Context, subjects []subject) error {
	for _, s := range subjects {
		t := trailFacts{types: map[string]int{}}
		for {
			entries, err := r.tx.Trail(ctx, s.asset, t.last, maxLimit)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if e.Sequence != t.last+1 && t.gap == 0 {
					t.gap = t.last + 1
				}
				t.last = e.Sequence
				if e.Deletion == r.key(s).Deletion {
					t.types[e.Type]++
				}
			}
			if len(entries) < maxLimit {
				break
			}
		}
		f := r.all[s]
		f.trail = t
		r.all[s] = f
	}
	return nil
}

// emptied is what an erasure must have emptied: the parts that are done and were not given up. It is false for other
// subjects, and for kinds and parts that the policy has no more.
func (v *verifier) emptied(s subject, f facts) (events.Target, bool) {
	kind, known := v.policy.Kind(f.erasure.Kind)
	if s.deletion == "" || !f.erasure.Done || !known {
		return events.Target{}, false
	}
	e := f.erasure
	e.Parts = map[string]string{}
	var past []string
	for _, step := range e.Steps {
		part, ok := kind.Part(step.Part)
		if !ok || step.Forced != "" {
			continue
		}
		e.Parts[step.Part] = step.Generation
		if !lastErased(f.node, f.deletion, step.Part) || !unclaimed(part, f.node, f.holders) {
			past = append(past, step.Part)
		}
	}
	t := targetOf(e, kind, f.node.Attributes)
	t.Past = past
	return t, len(e.Parts) > 0
}

// lastErased tells whether nothing has come after this erasure of a part: else what lies at a place that does not hold the
// generation is another's.
func lastErased(n Node, d DeletionRecord, part string) bool {
	if n.ID == "" {
		return true
	}
	p := n.Parts[part]
	return p.Status == PartErased && p.Deletion == d.ID
}
