package asset

import (
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// Service is what the asset service answers over HTTP: it writes and reads document parts, and gives out rights to upload
// and download objects and to work on an asset.
type Service struct {
	policy    *policy.Policy
	documents Documents
	blobs     Blobs
	signer    Signer
	gate      Gate
	now       func() time.Time
}

// NewService makes a Service of the policy, the documents, the objects, the signer and the gate of the configuration.
func NewService(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{policy: c.Policy, documents: c.Documents, blobs: c.Blobs, signer: c.Signer, gate: c.Gate, now: c.Now}
}

// part is the part of the policy that was admitted, and whose place is to be worked out.
func (s *Service) part(asset, name string, admitted events.Admitted) (*policy.Part, policy.Subject, error) {
	subject := policy.Subject{ID: asset, Owner: admitted.Owner, Kind: admitted.Kind, Generation: admitted.Generation, Attributes: admitted.Attributes}
	kind, ok := s.policy.Kind(admitted.Kind)
	if !ok {
		return nil, subject, problem.New(problem.UnknownPart, "the policy has no kind %q any more", admitted.Kind)
	}
	part, ok := kind.Part(name)
	if !ok {
		return nil, subject, problem.New(problem.UnknownPart, "kind %q has no part %q", kind.Name, name).At("part")
	}
	return part, subject, nil
}
