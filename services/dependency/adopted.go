package dependency

import (
	"cmp"
	"context"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// readClaims finds the places made of attributes that loaded nodes do not hold: those that were there before us take them with
// their first change or deletion, as others do with their creation. One of them may be another asset's by now.
func (w *world) readClaims(ctx context.Context, p *policy.Policy) error {
	claims, all := map[string][]string{}, []string{}
	for id, n := range w.nodes {
		kind, ok := p.Kind(n.Kind)
		if _, known := w.claims[id]; known || !ok || n.Status != Live {
			continue
		}
		if places, err := kind.Claims(subjectOf(n)); err == nil { // else they cannot be worked out, and nobody looks there
			claims[id], all = places, append(all, places...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	holders, err := w.tx.Places(ctx, distinct(all))
	for id, places := range claims {
		w.claims[id] = nil
		for _, place := range places {
			switch holder := cmp.Or(w.places[place], holders[place]); holder {
			case id:
			case "":
				w.claims[id] = append(w.claims[id], place)
			default:
				w.contested[id] = place
			}
		}
	}
	return err
}

// ownPlaces refuses what would touch a place that another asset holds.
func (w *world) ownPlaces(id string) error {
	if place := w.contested[id]; place != "" {
		return problem.New(problem.PlaceTaken, "asset %q was there before, and another asset holds %s, which is its place, too; correct one of both", id, place)
	}
	return nil
}
