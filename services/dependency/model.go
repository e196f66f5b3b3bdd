package dependency

import (
	"time"
)

// Status of an asset (live, deleting, deleted) or of a deletion (scheduled, deleting, deleted, cancelled).
type Status string

// The statuses.
const (
	Live      Status = "live"
	Scheduled Status = "scheduled"
	Deleting  Status = "deleting"
	Deleted   Status = "deleted"
	Cancelled Status = "cancelled"
)

// Node is the record of one asset in the graph.
type Node struct {
	ID         string
	Kind       string
	Owner      string
	Generation string // UUIDv7; greater at every re-creation
	Status     Status
	Attributes map[string]any
	Bytes      int64
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Hold       *Hold
	// GrantedUntil is the latest deadline of an upload grant in this generation; zero: there never was one.
	GrantedUntil time.Time
	Lease        *Lease // the last one, in force or run out; a tombstone has none
	// Deletion is the one that made this node a tombstone; empty while live, but for part deletions in Parts.
	Deletion    string
	RequestedAt time.Time // of Deletion
	DueAt       time.Time // of Deletion
	// Parts holds only what differs from the asset: parts with a generation of their own, or being erased alone, or
	// erased. A part that is not here is in the asset's generation and shares its status.
	Parts map[string]PartState
	// Sequence is that of the asset's last audit entry.
	Sequence int64
}

// PartState is what the graph knows of one part.
type PartState struct {
	Status     string `json:"status"` // present, erasing, erased
	Generation string `json:"generation"`
	Deletion   string `json:"deletion,omitempty"` // why it is erasing or erased
	// Before is the generation that Deletion takes or took, when it deletes this part alone.
	Before string `json:"before,omitempty"`
	// Open are the deletions of this part alone that are not done; a part that was written again may have several.
	Open []string `json:"open,omitempty"`
	// Since is when it was opened to be written again; its age counts from then on.
	Since    *time.Time `json:"since,omitempty"`
	ErasedAt *time.Time `json:"erased_at,omitempty"`
	Reason   string     `json:"reason,omitempty"`
}

// Part statuses.
const (
	PartPresent = "present"
	PartErasing = "erasing"
	PartErased  = "erased"
)

// Hold is a legal hold.
type Hold struct {
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// Lease is a worker's right to write and to change attributes, until a time.
type Lease struct {
	// TokenHash is the hex SHA-256 of the token, which only its holder has.
	TokenHash string    `json:"token_hash"`
	Until     time.Time `json:"until"`
}

// Link is a relationship from one asset to another.
type Link struct {
	From string
	Type string
	To   string
	// Hidden by a deletion that detached it or that may still be cancelled; empty when the link counts.
	Hidden string
}

// DeletionRecord is the record of one accepted request, kept for ever as the head of its audit trail.
type DeletionRecord struct {
	ID          string
	Root        string   // asset id
	Owner       string   // of the root
	Parts       []string // set when only parts are deleted
	Status      Status
	RequestedBy string
	Reason      string
	TraceParent string
	Batch       string
	Policy      string // hash of the policy that it was accepted under
	RequestedAt time.Time
	DueAt       time.Time
	SentAt      time.Time // zero: not yet
	CompletedAt time.Time // zero: not yet
	StalledAt   time.Time // when the trail told that it is stalled; zero: it has not
	Total       int       // assets it took along
	Done        int       // of them deleted
	Blocked     *Blocked
}

// BatchRecord is the record of one request for the deletion of many assets. Its deletions name it.
type BatchRecord struct {
	ID    string
	Owner string // of the assets, or of who named them one by one
	// Open: the batch takes all that its owner has and has not come to its end; nobody may write for the owner.
	Open        bool
	RequestedBy string
	Reason      string
	TraceParent string
	RequestedAt time.Time
	CompletedAt time.Time // zero: it is open; of named assets, when it was accepted
	Walk        Walk
}

// Walk is how far an open batch has looked through its owner's assets.
type Walk struct {
	After string `json:"after,omitempty"` // the last asset that was looked at
	// Listed: all were, and what is left only has to be deleted.
	Listed bool `json:"listed,omitempty"`
	// Deferred: some of this pass take more along than one deletion may; Moved: some of this pass went, so that another
	// pass may find less.
	Deferred bool `json:"deferred,omitempty"`
	Moved    bool `json:"moved,omitempty"`
	// Last is the pass in which such assets are refused.
	Last bool `json:"last,omitempty"`
}

// Refusal is an asset that a batch leaves, and why: what a refusal of its own deletion would say.
type Refusal struct {
	Batch   string
	Asset   string
	Name    string // of the problem
	Detail  string
	Members map[string]any
}

// Blocked says what a deletion cannot get past by itself.
type Blocked struct {
	Asset  string     `json:"asset,omitempty"`
	Part   string     `json:"part"`
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until,omitempty"`
}

// Erasure is what one deletion does to one asset.
type Erasure struct {
	Deletion   string
	Asset      string
	Position   int // order within the deletion, the root first
	Kind       string
	Owner      string
	Generation string
	Why        string // "requested", "PART_OF layer 7", …
	// Parts maps part to generation when they differ from Generation or are not all (events.Erase.Parts).
	Parts map[string]string
	Done  bool
	// CheckAt is when R2 looks at it again: pushed on by every sign of life, zero while scheduled. Once Done it is when R3 has
	// its places looked at again; zero: never.
	CheckAt time.Time
	// Rechecks is how many of those later looks are over.
	Rechecks int
	Steps    []Step
}

// Step is the state of one part in an erasure.
type Step struct {
	Part       string     `json:"part"`
	Generation string     `json:"generation"`
	Status     string     `json:"status"` // waiting, erasing, erased, blocked
	Documents  int64      `json:"documents"`
	Objects    int64      `json:"objects"`
	Bytes      int64      `json:"bytes"`
	Attempts   int        `json:"attempts"`
	LastError  string     `json:"last_error,omitempty"`
	NextTry    *time.Time `json:"next_try,omitempty"`
	ErasedAt   *time.Time `json:"erased_at,omitempty"`
	Forced     string     `json:"forced,omitempty"` // why an operator gave it up
}

// Step statuses.
const (
	StepWaiting = "waiting"
	StepErasing = "erasing"
	StepErased  = "erased"
	StepBlocked = "blocked"
)

// Command is the command flag: `(:Asset)-[:PENDING]->(:Command)`. It says "unsent", nothing more; what is sent is read
// from the Deletion and the Erasure when it is claimed.
type Command struct {
	ID       string // UUIDv7, new each time the flag is set
	Deletion string
	Asset    string
	DueAt    time.Time
	Since    time.Time // when it was set
	// ClaimedBy a replica until ClaimedUntil; zero: nobody.
	ClaimedBy    string
	ClaimedUntil time.Time
	// Replace: what waits on the subject makes no progress; purge it first.
	Replace bool
	Cause   string // "", "resend", "next_try", "operator": why it was set again
}

// Entry is one line of the audit trail, and one message of the feed.
type Entry struct {
	ID         string // UUIDv7, the event's id
	Asset      string
	Sequence   int64 // dense for the asset, from 1
	Type       string
	Time       time.Time
	Deletion   string
	Generation string
	By         string
	Reason     string
	Part       string
	Evidence   []byte // JSON of events.PartEvidence, or nil
	Detail     string
}

// Usage of one owner. Pending counts what is deleting and will be released.
type Usage struct {
	Assets  int64
	Bytes   int64
	Pending int64
}

// Key is a remembered Idempotency-Key of one subject.
type Key struct {
	Subject  string
	Key      string
	Request  string // hash of method, path and what else makes the request
	Deletion string
}
