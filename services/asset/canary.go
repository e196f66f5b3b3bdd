package asset

import (
	"context"
	"fmt"
	"strings"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// canaryText is what the parts of a canary hold.
const canaryText = "Tombstone's canary: created and deleted again, to see that all works"

// Plant writes the content of a canary, a document and an object, by the ways of every other asset. It asks the graph what the
// asset is, and refuses those of other kinds: nobody gets anything written over theirs by asking for it. Refusals: those of
// Gate.Admit, unknown-part.
func (s *Service) Plant(ctx context.Context, id string) error {
	kind := s.policy.CanaryKind()
	if kind == nil {
		return problem.New(problem.UnknownPart, "the policy of the asset service has no canary; give all services the same policy")
	}
	for _, part := range kind.Parts {
		admission := events.Admission{Asset: id, Part: part.Name, Owner: kind.Name, Write: true}
		admitted, err := s.gate.Admit(ctx, admission)
		if err != nil {
			return fmt.Errorf("ask the graph: %w", err)
		}
		if admitted.Kind != kind.Name {
			return problem.New(problem.UnknownPart, "asset %q is no canary", id)
		}
		if part.Document != nil {
			if err := s.PutDocument(ctx, admission, map[string]any{"text": canaryText}); err != nil {
				return err
			}
			continue
		}
		_, subject, err := s.part(id, part.Name, admitted)
		if err != nil {
			return err
		}
		at, err := part.Object(subject, "canary")
		if err != nil {
			return err
		}
		if err := s.blobs.Put(ctx, at.Bucket, at.Key, strings.NewReader(canaryText), int64(len(canaryText))); err != nil {
			return fmt.Errorf("put object: %w", err)
		}
	}
	return nil
}
