package neo4j

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// denseFrom is from how many links of one type to one target on these are looked for from the target.
const denseFrom = 500

// spoke is what many links to one target share.
type spoke struct{ linkType, to string }

func spokeOf(l dependency.Link) spoke { return spoke{l.Type, l.To} }

// saveDense sets at once whether many links to one target are hidden, as where a hub is deleted or comes back: one statement
// a target and type, which walks along the target's relationships and looks up no source. It gives the links that are left to
// be saved one by one: those to targets with few, with many more that are not meant, or where some do not exist yet.
func (t *tx) saveDense(ctx context.Context, links []dependency.Link) (left []dependency.Link, err error) {
	if len(links) < denseFrom {
		return links, nil
	}
	bundles := map[spoke][]dependency.Link{}
	for _, l := range links {
		bundles[spokeOf(l)] = append(bundles[spokeOf(l)], l)
	}
	done := map[spoke]bool{}
	for s, bundle := range bundles {
		if len(bundle) >= denseFrom && alike(bundle) {
			if done[s], err = t.hideBundle(ctx, s, bundle); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(links), func(l dependency.Link) bool { return done[spokeOf(l)] }), nil
}

// alike tells whether all links are to be hidden by the same deletion, or by none.
func alike(bundle []dependency.Link) bool {
	return !slices.ContainsFunc(bundle, func(l dependency.Link) bool { return l.Hidden != bundle[0].Hidden })
}

// hideBundle sets what hides the links of one type from these sources to a target, and tells whether there were all. It does
// nothing where the target has more than twice as many relationships, which it knows without a look at them.
func (t *tx) hideBundle(ctx context.Context, s spoke, bundle []dependency.Link) (all bool, err error) {
	if len(t.names.known([]string{s.linkType})) == 0 {
		return false, nil
	}
	sources := map[string]bool{}
	for _, l := range bundle {
		sources[l.From] = true
	}
	records, err := t.read(ctx, "hide links", fmt.Sprintf(`
		MATCH (t:<asset> {<id>: $to}) USING INDEX SEEK t:<asset>(<id>)
		WITH t WHERE COUNT { ()%[1]s(t) } <= $most
		MATCH (s:<asset>)%[2]s(t)
		WITH s, r WHERE s.<id> IN $from
		SET r.hidden = $hidden
		RETURN count(DISTINCT s)`, t.names.arrow("", s.linkType), t.names.arrow("r", s.linkType)),
		params{"to": s.to, "from": slices.Sorted(maps.Keys(sources)), "hidden": text(bundle[0].Hidden), "most": 2 * len(sources)})
	if err != nil {
		return false, err
	}
	return int(number(records[0], 0)) == len(sources), nil
}
