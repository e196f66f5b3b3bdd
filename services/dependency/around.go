package dependency

import (
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
)

const (
	aroundChunk = 500  // assets whose links are read in one call
	sourcesPage = 5000 // links read in one call
	// sourcesDense is how many links of one dense target are read in one call, so some 50 MB at most.
	sourcesDense = 150_000
	densePage    = 16 // targets that together have too many links are read one by one when they are fewer
	// aheadAfter is how many times links are read before it is asked what lies deeper, as most closures end before; and
	// it is asked only from levels of at most aheadFrom assets.
	aheadAfter = 8
	aheadFrom  = 100
)

// around reads the links around the assets of a closure, those of many in one call: of assets whose turn it is, and of some
// whose turn comes later. What it reads ahead decides nothing.
type around struct {
	w        *world
	policy   *policy.Policy
	goes     map[string]string // as in closure.why
	up, down []string          // the link types along which a closure goes on: to sources, and to targets

	reads    int
	soon     []string            // assets whose turn comes later, in that order
	seen     map[string]bool     // assets of which all below was read once
	incoming map[string][]Source // by target; those with too many are absent
	targets  map[string][]string // by source: what it may be the last to use
	nodes    map[string]Node
}

func newAround(w *world, p *policy.Policy, within scope, goes map[string]string) *around {
	a := &around{w: w, policy: p, goes: goes, up: p.LinkTypes(policy.Cascade), seen: map[string]bool{},
		incoming: map[string][]Source{}, targets: map[string][]string{}, nodes: map[string]Node{}}
	if within.withDependants {
		a.up = append(a.up, p.LinkTypes(policy.Restrict)...)
	}
	if within.owner == "" {
		a.down = countingReferences(p)
	}
	return a
}

// countingReferences are the link types by which the last source takes its target along.
func countingReferences(p *policy.Policy) (types []string) {
	for _, t := range sortedKeys(p.Links) {
		if p.Links[t].OnLastSourceDelete {
			types = append(types, t)
		}
	}
	return types
}

// needing are the link types by which a source keeps its target: those that count references, whatever else they do, and
// those that restrict.
func needing(p *policy.Policy) []string {
	return distinct(append(countingReferences(p), p.LinkTypes(policy.Restrict)...))
}

// read reads what is around assets, of at most aroundChunk, and with them what is around some that come later.
func (a *around) read(ctx context.Context, ids []string) error {
	missing := absent(a.incoming, ids)
	if len(missing) == 0 {
		return nil
	}
	if err := a.lookAhead(ctx, missing); err != nil {
		return err
	}
	list := a.fill(missing)
	for _, id := range list {
		a.seen[id] = true
	}
	if err := a.readSources(ctx, list); err != nil || len(a.down) == 0 {
		return err
	}
	links, err := a.w.tx.Outgoing(ctx, list)
	for _, l := range links {
		if l.Hidden == "" && slices.Contains(a.down, l.Type) {
			a.targets[l.From] = append(a.targets[l.From], l.To)
		}
	}
	return err
}

// readShared reads what is around shared targets, and their records, with those of what was read ahead.
func (a *around) readShared(ctx context.Context, ids []string) error {
	if err := a.read(ctx, ids); err != nil {
		return err
	}
	for _, id := range ids {
		if n, locked := a.w.nodes[id]; locked {
			a.nodes[id] = n
		}
	}
	missing := absent(a.nodes, ids)
	if len(missing) == 0 {
		return nil
	}
	for id := range a.incoming {
		if a.goes[id] == "" && len(missing) < aroundChunk && !slices.Contains(ids, id) {
			missing = append(missing, id)
		}
	}
	nodes, err := a.w.tx.Nodes(ctx, missing)
	for _, id := range missing {
		a.nodes[id] = nodes[id]
	}
	return err
}

// absent gives the ids of which nothing is known yet.
func absent[V any](known map[string]V, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := known[id]; return ok })
}

// readSources reads the links to targets, by halves where they have too many for one call. Those that have too many even so
// are left to be read one by one, in pages.
func (a *around) readSources(ctx context.Context, targets []string) error {
	for todo := [][]string{targets}; len(todo) > 0; {
		list := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		found, err := a.w.tx.Sources(ctx, list, sortedKeys(a.policy.Links), sourcesPage)
		if err != nil {
			return err
		}
		if len(found) < sourcesPage {
			for _, id := range list {
				a.incoming[id] = nil
			}
			for _, src := range found {
				a.incoming[src.To] = append(a.incoming[src.To], src)
			}
		} else if len(list) >= densePage {
			todo = append(todo, list[:len(list)/2], list[len(list)/2:])
		}
	}
	return nil
}

// lookAhead asks what lies deeper, when nothing is known of that and the closure is a deep one: a store that is far away
// would else be asked once for every level.
func (a *around) lookAhead(ctx context.Context, from []string) (err error) {
	a.reads++
	if len(a.soon) > 0 || a.reads <= aheadAfter || len(from) > aheadFrom {
		return nil
	}
	a.soon, err = a.w.tx.Ahead(ctx, from, a.up, a.down, aroundChunk-len(from))
	return err
}

// fill adds assets that come later to a list, up to a chunk.
func (a *around) fill(list []string) []string {
	list = slices.Clone(list)
	for len(a.soon) > 0 && len(list) < aroundChunk {
		id := a.soon[0]
		if a.soon = a.soon[1:]; !a.seen[id] && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// sources gives the links of these types (nil: all) to the targets, which were read, until do is false. Targets with many
// links are read one by one.
func (a *around) sources(ctx context.Context, targets, types []string, do func(Source) bool) error {
	for _, to := range targets {
		list, known := a.incoming[to]
		if !known {
			if more, err := a.page(ctx, to, types, do); err != nil || !more {
				return err
			}
			continue
		}
		for _, src := range list {
			if (types == nil || slices.Contains(types, src.Type)) && !do(src) {
				return nil
			}
		}
	}
	return nil
}

// page gives the links to one target, each once, until do is false: the first ones, then all at once, and only where they are
// too many for that page after page, as a store may have to sort all of them for each page.
func (a *around) page(ctx context.Context, to string, types []string, do func(Source) bool) (more bool, err error) {
	if types == nil {
		types = sortedKeys(a.policy.Links)
	}
	seen := map[Link]bool{}
	each := func(list []Source) (more bool) {
		for _, src := range list {
			if (src.Status == Live || src.Scheduled) && !seen[src.Link] {
				if seen[src.Link] = true; !do(src) {
					return false
				}
			}
		}
		return true
	}
	for _, most := range []int{sourcesPage, sourcesDense} {
		list, err := a.w.tx.Sources(ctx, []string{to}, types, most)
		if err != nil || !each(list) {
			return false, err
		}
		if len(list) < most {
			return true, nil
		}
	}
	for after := (Link{}); ; {
		list, err := a.w.tx.Incoming(ctx, to, types, after, sourcesDense)
		if err != nil || !each(list) {
			return false, err
		}
		if len(list) < sourcesDense {
			return true, nil
		}
		after = list[len(list)-1].Link
	}
}

// forget drops what was read of an asset whose turn is over.
func (a *around) forget(id string) {
	delete(a.incoming, id)
	delete(a.targets, id)
	delete(a.nodes, id)
}
