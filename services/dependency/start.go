package dependency

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// settingPlaces keeps the places of the policy that was last in force.
const settingPlaces = "policy.places"

// Prepare makes the graph ready and guards the places of the policy against change: a part whose place changed, while
// assets of its kind are not deleted, must keep the old one under `former`, else objects would be left behind. The error
// then names the parts. It is safe from several replicas at once.
func (s *Service) Prepare(ctx context.Context) error {
	if err := s.graph.Prepare(ctx); err != nil {
		return err
	}
	return s.graph.Update(ctx, func(tx Tx) error {
		text, err := tx.Setting(ctx, settingPlaces)
		if err != nil {
			return err
		}
		recorded := map[string]string{}
		if text != "" {
			if err := json.Unmarshal([]byte(text), &recorded); err != nil {
				return fmt.Errorf("read the recorded places: %w", err)
			}
		}
		if err := s.guardPlaces(ctx, tx, recorded); err != nil {
			return err
		}
		now, err := json.Marshal(s.policy.Places())
		if err != nil || string(now) == text {
			return err
		}
		return tx.SaveSetting(ctx, settingPlaces, string(now))
	})
}

// PlacesChangedError names the parts whose place may not change yet.
type PlacesChangedError struct{ Parts []string }

func (e *PlacesChangedError) Error() string {
	return fmt.Sprintf("the policy changes the places of %s while assets of these kinds are not deleted; list the old place under the part's `former:` (a place newly made of attributes needs a new kind)",
		strings.Join(e.Parts, ", "))
}

func (s *Service) guardPlaces(ctx context.Context, tx Tx, recorded map[string]string) error {
	var refused []string
	for _, part := range s.policy.GuardPlaces(recorded) {
		kind, _, _ := strings.Cut(part, "/")
		left, err := tx.ListNodes(ctx, NodeFilter{Kind: kind, Statuses: []Status{Live, Deleting}, Limit: 1})
		if err != nil {
			return err
		}
		if len(left) > 0 {
			refused = append(refused, part)
		}
	}
	if len(refused) > 0 {
		return &PlacesChangedError{Parts: refused}
	}
	return nil
}
