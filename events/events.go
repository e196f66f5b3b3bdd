// Package events is the wire between the dependency service, the asset service and the outside: the messages on
// JetStream, their subjects, and the questions that the services ask each other. It imports nothing of ours.
//
// Every message is a CloudEvents 1.0 event in JSON (structured mode). The types below are the `data` members.
package events

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// The CloudEvents types.
const (
	TypeErase             = "tombstone.erase.v1"              // command
	TypeDeletionRequested = "tombstone.deletion.requested.v1" // event
	TypeDeletionCancelled = "tombstone.deletion.cancelled.v1" // event
	TypeDeletionCompleted = "tombstone.deletion.completed.v1" // event
	TypeDeletionStalled   = "tombstone.deletion.stalled.v1"   // event
	TypeDeletionBlocked   = "tombstone.deletion.blocked.v1"   // event
	TypePartErased        = "tombstone.part.erased.v1"        // report, then event
	TypePartProgress      = "tombstone.part.progress.v1"      // report
	TypeAssetErased       = "tombstone.asset.erased.v1"       // report, then event
)

// AssetHash is the last token of every subject: the first 32 hex digits of SHA-256 of the asset's id.
func AssetHash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// Envelope is what all messages have in common, besides their data. Encode fills SpecVersion and the content type.
type Envelope struct {
	ID     string    // unique for the source; a repeat of the same fact keeps it
	Source string    // "/tombstone/dependency" or "/tombstone/asset"
	Type   string    // one of the constants above
	Time   time.Time // UTC
	// TraceParent is the W3C trace context (CloudEvents distributed tracing extension); empty when there is none.
	TraceParent string
}

// Erase is the command to erase one (asset, generation) for one deletion.
type Erase struct {
	Deletion   string `json:"deletion"`
	Asset      string `json:"asset"`
	Kind       string `json:"kind"`
	Owner      string `json:"owner"`
	Generation string `json:"generation"`
	// Parts maps the parts to erase to the generation of each. Absent: every part that the policy has, in the asset's
	// generation.
	Parts map[string]string `json:"parts,omitempty"`
	// Recheck is the number, from 1, of a later look at what was erased already; 0 for the erasure itself.
	Recheck int `json:"recheck,omitempty"`
	// Tried is how often earlier commands for the same were tried, so that counting goes on.
	Tried  int    `json:"tried,omitempty"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// PartEvidence is what was there of one part, and when it was seen to be gone.
type PartEvidence struct {
	Part       string `json:"part"`
	Generation string `json:"generation"`
	Documents  int64  `json:"documents"`
	Objects    int64  `json:"objects"` // versions, delete markers and unfinished uploads
	Bytes      int64  `json:"bytes"`
	Attempts   int    `json:"attempts"`
	// SeenAbsentAt is the time of the last look that found nothing (UTC).
	SeenAbsentAt time.Time `json:"seen_absent_at"`
}

// PartErased reports one part that is seen to be absent while others of its asset are not yet.
type PartErased struct {
	Deletion   string `json:"deletion"`
	Asset      string `json:"asset"`
	Generation string `json:"generation"` // the asset's; the part's is in the evidence
	// A member of its own, not inlined: the generation in it would be hidden by the asset's.
	PartEvidence `json:"evidence"`
}

// AssetErased reports that every part which the command named is seen to be absent.
type AssetErased struct {
	Deletion   string         `json:"deletion"`
	Asset      string         `json:"asset"`
	Generation string         `json:"generation"`
	Parts      []PartEvidence `json:"parts"`
	// Recheck is that of the command: the parts are those looked at, and the evidence what was found there.
	Recheck int `json:"recheck,omitempty"`
}

// Progress statuses.
const (
	ProgressErasing = "erasing" // in hand
	ProgressBlocked = "blocked" // cannot go on by itself now; tried again at NextTry
	ProgressRetry   = "retry"   // failing, and the next try is far enough away that the graph keeps it
)

// PartProgress reports that a part is in hand, failing or blocked. It counts as being heard of.
type PartProgress struct {
	Deletion   string `json:"deletion"`
	Asset      string `json:"asset"`
	Generation string `json:"generation"`
	Part       string `json:"part,omitempty"`
	Status     string `json:"status"`
	Reason     string `json:"reason,omitempty"`
	// Until is when the obstacle ends by itself, where that is known (an object lock).
	Until     *time.Time `json:"until,omitempty"`
	Attempts  int        `json:"attempts"`
	LastError string     `json:"last_error,omitempty"`
	// NextTry asks the graph to flag the command again at that time; absent while the broker still holds it.
	NextTry *time.Time `json:"next_try,omitempty"`
	Recheck int        `json:"recheck,omitempty"` // that of the command
}

// AuditEvent is the data of every message of the events stream: one line of the audit trail.
type AuditEvent struct {
	Sequence   int64  `json:"sequence"` // dense for its asset, from 1
	Deletion   string `json:"deletion"`
	Asset      string `json:"asset"`
	Generation string `json:"generation"`
	By         string `json:"by"`
	Reason     string `json:"reason"`
	// Part and the evidence are set for part.erased; Detail for blocked and stalled.
	Part     string        `json:"part,omitempty"`
	Evidence *PartEvidence `json:"evidence,omitempty"`
	Detail   string        `json:"detail,omitempty"`
}

// Question asks whether a part's erasure for a deletion is still wanted (DESIGN: list, then ask, then delete).
type Question struct {
	Deletion   string `json:"deletion"`
	Asset      string `json:"asset"`
	Generation string `json:"generation"`
	// Parts is as in Erase: the parts and generations about to be erased; absent means all, in Generation.
	Parts map[string]string `json:"parts,omitempty"`
	// Recheck is that of the command: is what is there still that of the deleted asset?
	Recheck int `json:"recheck,omitempty"`
}

// Answer to a Question. Erase is true only when the graph says that this (asset, generation, deletion, part) is
// `deleting` and the system is not paused. Anything else: acknowledge, erase nothing, report nothing.
type Answer struct {
	Erase  bool   `json:"erase"`
	Paused bool   `json:"paused,omitempty"` // Erase is false for this reason alone; try again later
	Why    string `json:"why,omitempty"`    // for the log when Erase is false
	// Attributes are the asset's, for templates that use them; Owner and Kind as in the graph.
	Attributes map[string]any `json:"attributes,omitempty"`
	Owner      string         `json:"owner,omitempty"`
	Kind       string         `json:"kind,omitempty"`
	// Only lists, for a recheck, the parts at whose places there can be nothing of anybody else. It may be empty.
	Only []string `json:"only,omitempty"`
}

// Admission asks for the right to read or write a document part now.
type Admission struct {
	Asset string `json:"asset"`
	Part  string `json:"part"`
	// Owner and Operator are the caller's; a foreign asset is answered like one that does not exist.
	Owner    string `json:"owner"`
	Operator bool   `json:"operator,omitempty"`
	Write    bool   `json:"write,omitempty"`
	// LeaseToken, when given, must be the asset's live lease (else lease-lost).
	LeaseToken string `json:"lease_token,omitempty"`
}

// Admitted is what the asset service needs to work out the part's place.
type Admitted struct {
	Owner      string         `json:"owner"`
	Kind       string         `json:"kind"`
	Generation string         `json:"generation"` // the part's
	Attributes map[string]any `json:"attributes,omitempty"`
	// LeaseLeft is how long the lease of the admission lasts from now; 0 without one. A write that is not over by then must not
	// have an effect.
	LeaseLeft time.Duration `json:"lease_left_ns,omitempty"`
}
