package dependency

import (
	"context"
	"maps"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// lookAll looks at all targets to their ends, and hands page after page over with the index of its target.
func (s *Service) lookAll(ctx context.Context, targets []events.Target, each func(target int, seen events.Sight) error) error {
	for first := 0; first < len(targets); {
		sights, err := s.look(ctx, targets[first:])
		if err != nil {
			return err
		}
		for i, seen := range sights {
			if err := each(first+i, seen); err != nil {
				return err
			}
			for after := seen.Next; after != ""; after = seen.Next {
				further := targets[first+i]
				further.After = after
				page, err := s.look(ctx, []events.Target{further})
				if err != nil {
					return err
				}
				seen = page[0]
				if err := each(first+i, seen); err != nil {
					return err
				}
			}
		}
		first += len(sights)
	}
	return nil
}

// look is one question, bounded in targets and time.
func (s *Service) look(ctx context.Context, targets []events.Target) ([]events.Sight, error) {
	stores, err := s.stores()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.LookTimeout)
	defer cancel()
	return stores.Look(ctx, targets[:min(len(targets), lookChunk)])
}

// stores is the way to the asset service, if there is one.
func (s *Service) stores() (Stores, error) {
	if s.cfg.Stores == nil {
		return nil, problem.New(problem.Unavailable, "this process does not reach the asset service").With("store", "asset service")
	}
	return s.cfg.Stores, nil
}

// lookChunk bounds the targets of one question, so that a slow store can answer it in time.
const lookChunk = 25

// targetOf is what an erasure would take of an asset. Of the attributes it has those that places are made of.
func targetOf(e Erasure, kind *policy.Kind, attributes map[string]any) events.Target {
	t := events.Target{Asset: e.Asset, Kind: e.Kind, Owner: e.Owner, Generation: e.Generation, Parts: maps.Clone(e.Parts)}
	if kind == nil {
		return t
	}
	for _, name := range kind.FixedAttributes() {
		if value, ok := attributes[name]; ok {
			if t.Attributes == nil {
				t.Attributes = map[string]any{}
			}
			t.Attributes[name] = value
		}
	}
	return t
}
