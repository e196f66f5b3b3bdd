package dependency

import (
	"context"
	"time"
)

// VerifyingAPI holds a running system to its guarantees.
type VerifyingAPI interface {
	// Verify looks at every asset and deletion, and at every place that was erased. It takes as long as there are many.
	Verify(ctx context.Context, r VerifyRequest) (Verification, error)
}

// VerifyRequest narrows a look at everything.
type VerifyRequest struct {
	// Since, when given, leaves everything out but what deletions that were completed since then have erased: what a store
	// that was restored from a backup of that time may have again.
	Since *time.Time `json:"since,omitempty"`
	// Apply has what lies where something was erased erased again, where it can be nobody else's: by the later look that
	// follows every erasure, at once. Nothing else is changed.
	Apply bool `json:"apply,omitempty"`
}

// Verification is what a look at everything has found.
type Verification struct {
	Checked    int         `json:"checked"`          // assets; with Since, those that were erased
	Violations []Violation `json:"violations"`       // the first 1,000
	Total      int         `json:"total"`            // of the violations
	Driven     int         `json:"driven,omitempty"` // with Apply: erasures that are looked at again now
}

// Violation is one thing that must not be. Each was looked at twice, the second time while nothing about it changed.
type Violation struct {
	Guarantee  string `json:"guarantee"` // G1 to G9 of docs/architecture.md
	Asset      string `json:"asset,omitempty"`
	Generation string `json:"generation,omitempty"`
	Part       string `json:"part,omitempty"`
	Deletion   string `json:"deletion,omitempty"`
	Owner      string `json:"owner,omitempty"`
	Found      string `json:"found"` // what was found, a sentence
	Do         string `json:"do"`    // what may be done about it
}
