package dependency

import (
	"context"
	"time"
)

// VerifyingAPI holds a running system to its guarantees, and changes nothing.
type VerifyingAPI interface {
	// Verify looks at every asset and deletion, and at every place that was erased. It takes as long as there are many.
	Verify(ctx context.Context, r VerifyRequest) (Verification, error)
}

// VerifyRequest narrows a look at everything.
type VerifyRequest struct {
	// Since, when given, leaves everything out but what deletions that were completed since then have erased: what a store
	// that was restored from a backup of that time may have again.
	Since *time.Time `json:"since,omitempty"`
}

// Verification is what a look at everything has found.
type Verification struct {
	Checked    int         `json:"checked"`    // assets; with Since, those that were erased
	Violations []Violation `json:"violations"` // the first 1,000
	Total      int         `json:"total"`      // of the violations
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
