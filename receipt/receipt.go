// Package receipt is the signed statement of what a deletion erased: what it says, how it is signed, and how anybody who
// holds the public key verifies it, without any service. A receipt holds ids, counts and times, and never content.
//
// It travels as a compact JWS (RFC 7515) signed with Ed25519 (`EdDSA`, RFC 8037); keys as a JWK Set (RFC 7517).
package receipt

import (
	"time"
)

// MediaType of a receipt as it travels (RFC 7515, section 9.2.1).
const MediaType = "application/jose"

// Receipt is what the statement says.
type Receipt struct {
	Deletion string `json:"deletion"`
	Root     string `json:"root"` // id of the asset that was asked for
	// Result is Verified, or Unverified when an operator gave a part up.
	Result      string    `json:"result"`
	Policy      string    `json:"policy"` // hex SHA-256 of the policy in force when the deletion was accepted
	RequestedBy string    `json:"requested_by"`
	Reason      string    `json:"reason"`
	RequestedAt time.Time `json:"requested_at"`
	DueAt       time.Time `json:"due_at"`
	CompletedAt time.Time `json:"completed_at"`
	Assets      []Asset   `json:"assets"` // the root first
}

// Results of a deletion.
const (
	Verified   = "verified"   // every part was seen to be absent
	Unverified = "unverified" // at least one part was given up without a look
)

// Asset is one asset that the deletion took.
type Asset struct {
	ID         string `json:"asset"`
	Kind       string `json:"kind"`
	Owner      string `json:"owner"`
	Generation string `json:"generation"`
	Why        string `json:"why"`
	Parts      []Part `json:"parts"`
}

// Part is what was there of one part, and when it was seen to be absent.
type Part struct {
	Part       string     `json:"part"`
	Generation string     `json:"generation"`
	Result     string     `json:"result"`
	Documents  int64      `json:"documents"`
	Objects    int64      `json:"objects"` // versions, delete markers and unfinished uploads
	Bytes      int64      `json:"bytes"`
	AbsentAt   *time.Time `json:"absent_at,omitempty"` // when absence was seen
	GivenUp    string     `json:"given_up,omitempty"`  // why an operator gave it up; then nobody looked
}
