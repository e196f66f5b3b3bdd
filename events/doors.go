package events

import "time"

// GrantRequest asks for the right to put one object of a part by a presigned URL.
type GrantRequest struct {
	Asset string `json:"asset"`
	Part  string `json:"part"`
	Name  string `json:"name"` // below the part's prefix
	// Owner and Operator are the caller's, as in Admission.
	Owner    string `json:"owner"`
	Operator bool   `json:"operator,omitempty"`
	// TTL is how long the URL is to last; 0: the policy's default.
	TTL time.Duration `json:"ttl_ns,omitempty"`
}

// Granted is a right whose deadline is on the asset's node already.
type Granted struct {
	Admitted
	Until time.Time `json:"until"` // whole seconds, UTC
}

// LeaseRequest asks for the lease of an asset.
type LeaseRequest struct {
	Asset    string        `json:"asset"`
	Owner    string        `json:"owner"`
	Operator bool          `json:"operator,omitempty"`
	TTL      time.Duration `json:"ttl_ns,omitempty"` // 0: the policy's default
}

// RenewRequest changes an asset under its lease.
type RenewRequest struct {
	Asset    string        `json:"asset"`
	Token    string        `json:"token"`
	Owner    string        `json:"owner"`
	Operator bool          `json:"operator,omitempty"`
	TTL      time.Duration `json:"ttl_ns,omitempty"` // from now; 0: the lease ends when it would have
	// Attributes to set; null takes one away, those not named stay.
	Attributes map[string]any `json:"attributes,omitempty"`
}

// Leased is a lease in force.
type Leased struct {
	Token string    `json:"token"`
	Until time.Time `json:"until"`
}
