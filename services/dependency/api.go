package dependency

import (
	"context"
	"io"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

// Caller is who asks. Without the operator role it acts for its own owner only.
type Caller struct {
	Subject  string
	Owner    string
	Operator bool
}

type callerKey struct{}

// WithCaller puts the caller into the context of a request.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom tells who asks; ok is false when nobody was put there, and then everything must be refused.
func CallerFrom(ctx context.Context) (c Caller, ok bool) {
	c, ok = ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// The interfaces below, and those in control_api.go, are what the HTTP API serves and what the Go client offers: the same
// calls on both ends.
// All take the caller from the context; refusals are *problem.Problem.

// AssetsAPI creates, reads and links assets.
type AssetsAPI interface {
	PutAsset(ctx context.Context, id string, put Put) (Asset, Outcome, error)
	// ImportAssets reads NDJSON (a Put with its id a line) and applies links after all lines, in bounded memory.
	ImportAssets(ctx context.Context, lines io.Reader) (ImportResult, error)
	Asset(ctx context.Context, id string) (Asset, error)
	Assets(ctx context.Context, q AssetQuery) (Page[Asset], error)
	Dependants(ctx context.Context, id, cursor string) (Page[Dependant], error)
	Link(ctx context.Context, id, linkType, to string) error
	Unlink(ctx context.Context, id, linkType, to string) error
}

// DeletionsAPI asks for deletions and tells how they go.
type DeletionsAPI interface {
	// Delete accepts the deletion of one asset, or refuses it. With Wait it answers when the deletion is done or the
	// time is over, whichever is first.
	Delete(ctx context.Context, id string, r DeleteRequest) (Deletion, error)
	// DeletePart is Delete for one part of an asset that stays.
	DeletePart(ctx context.Context, id, part string, r DeleteRequest) (Deletion, error)
	Deletion(ctx context.Context, deletion, cursor string) (Deletion, error)
	Deletions(ctx context.Context, q DeletionQuery) (Page[Deletion], error)
}

// BatchesAPI asks for deletions of many assets at once.
type BatchesAPI interface {
	// DeleteSet asks for the deletion of up to 1,000 assets in one transaction. Those that go do not stand in each other's
	// way; what is refused stays, with whatever of the set it keeps.
	DeleteSet(ctx context.Context, r SetRequest) (SetAnswer, error)
	// DeleteOwner asks for the deletion of all that an owner has. Its batch goes on until everything is deleted that may be;
	// until then nobody writes for the owner. A repeat meanwhile gives the same batch.
	DeleteOwner(ctx context.Context, r OwnerRequest) (batch string, err error)
	// Batch tells how far one is; the cursor continues what it refused.
	Batch(ctx context.Context, batch, cursor string) (Batch, error)
}

// SetRequest names the assets of a set.
type SetRequest struct {
	IDs            []string
	Reason         string
	WithDependants bool
	TraceParent    string
}

// SetAnswer has one result for each id, in their order.
type SetAnswer struct {
	Batch   string
	Results []SetResult
}

// SetResult is a deletion or a refusal.
type SetResult struct {
	ID       string
	Deletion *Deletion
	Refusal  *problem.Problem
}

// OwnerRequest names an owner.
type OwnerRequest struct {
	Owner       string
	Reason      string
	TraceParent string
}

// Batch is what the API tells of one.
type Batch struct {
	ID string
	// Status is deleting until all that was accepted has ended, and of an owner until the owner may write again.
	Status    Status
	Accepted  int // deletions
	Deleted   int // of them
	Cancelled int // of them
	// Refused are assets that stay, the first 1,000; RefusedTotal counts all.
	Refused      []SetResult
	RefusedTotal int
	NextCursor   string
}

// OperationsAPI is for operators.
type OperationsAPI interface {
	Pending(ctx context.Context, cursor string) (Page[PendingFlag], error)
	// Replay publishes pending flags now.
	Replay(ctx context.Context, d Drive) (Driven, error)
}

// Page is a page of a list; NextCursor is empty on the last.
type Page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// LinkTo is an outgoing link as bodies and answers name it.
type LinkTo struct {
	Type string `json:"type"`
	To   string `json:"to"`
}

// Put is what is said of an asset at creation or change.
type Put struct {
	Kind       string         `json:"kind"`
	Owner      string         `json:"owner,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"` // nil: unchanged
	// Links replaces the outgoing set when given; nil leaves it.
	Links *[]LinkTo `json:"links,omitempty"`
	Bytes *int64    `json:"bytes,omitempty"` // nil: unchanged
}

// Outcome of a Put.
type Outcome string

// The outcomes.
const (
	Created Outcome = "created"
	Changed Outcome = "changed" // or the same
)

// Asset is what the API tells of an asset.
type Asset struct {
	ID         string              `json:"id"`
	Kind       string              `json:"kind"`
	Owner      string              `json:"owner"`
	Generation string              `json:"generation"`
	Status     Status              `json:"status"`
	Attributes map[string]any      `json:"attributes"`
	Links      []LinkTo            `json:"links"`
	Bytes      int64               `json:"bytes"`
	CreatedAt  time.Time           `json:"created_at"`
	UpdatedAt  time.Time           `json:"updated_at"`
	Hold       *Hold               `json:"hold,omitempty"`
	Deletion   string              `json:"deletion,omitempty"`
	Parts      map[string]PartView `json:"parts"`
}

// PartView is what the API tells of one part.
type PartView struct {
	Status     string     `json:"status"`
	Generation string     `json:"generation"`
	ErasedAt   *time.Time `json:"erased_at,omitempty"`
	Reason     string     `json:"reason,omitempty"`
}

// AssetQuery narrows a list of assets.
type AssetQuery struct {
	Kind   string
	Status Status
	Owner  string
	Cursor string
	Limit  int // 0: the default
}

// Dependant is one asset with a link to another.
type Dependant struct {
	ID     string `json:"id"`
	Type   string `json:"type"` // of the link
	Kind   string `json:"kind"`
	Status Status `json:"status"`
}

// DeleteRequest is a DELETE with its query and headers.
type DeleteRequest struct {
	WithDependants bool
	Reason         string
	IfMatch        string // generation of the asset, or of the part
	IfPlan         string
	IdempotencyKey string
	Wait           time.Duration
	TraceParent    string
}

// Deletion is what the API tells of a deletion.
type Deletion struct {
	ID          string      `json:"id"`
	Root        string      `json:"root"`
	Parts       []string    `json:"parts,omitempty"` // set when only these parts of the root are deleted
	Status      Status      `json:"status"`
	Stalled     bool        `json:"stalled"`
	Blocked     *Blocked    `json:"blocked,omitempty"`
	RequestedBy string      `json:"requested_by"`
	Reason      string      `json:"reason"`
	RequestedAt time.Time   `json:"requested_at"`
	DueAt       time.Time   `json:"due_at"`
	SentAt      *time.Time  `json:"sent_at,omitempty"`
	CompletedAt *time.Time  `json:"completed_at,omitempty"`
	Assets      AssetCount  `json:"assets"`
	Steps       []AssetStep `json:"steps"`
	NextCursor  string      `json:"next_cursor,omitempty"` // of the steps
}

// AssetCount of a deletion.
type AssetCount struct {
	Total   int `json:"total"`
	Deleted int `json:"deleted"`
}

// AssetStep is a Step with its asset.
type AssetStep struct {
	Asset string `json:"asset"`
	Step
}

// DeletionQuery narrows a list of deletions.
type DeletionQuery struct {
	Status  Status
	Stalled *bool
	Blocked bool // only those that are `deleting` and blocked
	Owner   string
	Batch   string
	Cursor  string
	Limit   int
}

// PendingFlag is a command flag as operators see it.
type PendingFlag struct {
	Deletion string    `json:"deletion"`
	Asset    string    `json:"asset"`
	Since    time.Time `json:"since"`
	DueAt    time.Time `json:"due_at"`
	Claimed  bool      `json:"claimed"`
	Cause    string    `json:"cause,omitempty"`
}

// Drive says what to drive on: some deletions, or all (OlderThan narrows all).
type Drive struct {
	Deletions []string      `json:"deletions,omitempty"`
	All       bool          `json:"all,omitempty"`
	OlderThan time.Duration `json:"-"`
}

// Driven says how many deletions were driven.
type Driven struct {
	Driven int `json:"driven"`
}

// ImportResult tells how an import went.
type ImportResult struct {
	Created int           `json:"created"`
	Changed int           `json:"changed"`
	Failed  int           `json:"failed"`
	Errors  []ImportError `json:"errors"` // the first 100
}

// ImportError is one line that was refused.
type ImportError struct {
	Line   int    `json:"line"`
	ID     string `json:"id"`
	Type   string `json:"type"` // /problems/NAME
	Detail string `json:"detail"`
}
