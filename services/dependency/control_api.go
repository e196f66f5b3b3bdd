package dependency

import (
	"context"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// DrivingAPI is for those who look after deletions that do not end by themselves.
type DrivingAPI interface {
	// Explain tells what a deletion waits for, since when, and what may be done.
	Explain(ctx context.Context, deletion string) (Explanation, error)
	// Stalled lists deletions past their deadline, blocked or failing.
	Stalled(ctx context.Context, cursor string) (Page[Deletion], error)
	// Retry drives stalled deletions now.
	Retry(ctx context.Context, d Drive) (Driven, error)
	// Force gives up a part whose store is gone for good; the record says so for ever.
	Force(ctx context.Context, deletion string, f Force) (Deletion, error)
	// Audit lists an asset's trail, oldest first.
	Audit(ctx context.Context, asset, cursor string) (Page[AuditItem], error)
	// AuditAll lists the trails of all assets since a time (zero: from the first on), in order of time.
	AuditAll(ctx context.Context, since time.Time, cursor string) (Page[AuditItem], error)
	// Pause stops physical deletion, over restarts too; the reason may be empty. Resume goes on with it.
	Pause(ctx context.Context, reason string) error
	Resume(ctx context.Context) error
}

// FollowingAPI tells of a deletion as it goes.
type FollowingAPI interface {
	// Follow hands every entry of a deletion's trail to each, those that are there already first, and returns nil after
	// the one that ends the deletion. An error of each ends it too, and is returned.
	Follow(ctx context.Context, deletion string, each func(AuditItem) error) error
}

// ReversalAPI keeps assets from going.
type ReversalAPI interface {
	// Cancel takes a scheduled deletion back.
	Cancel(ctx context.Context, deletion string) (Deletion, error)
	// Hold puts a live or scheduled asset under legal hold; Release ends it.
	Hold(ctx context.Context, id, reason string) error
	Release(ctx context.Context, id string) error
}

// OwnersAPI tells what owners use.
type OwnersAPI interface {
	// Usage tells what an owner uses and may use. An owner without assets uses nothing; another's does not exist.
	Usage(ctx context.Context, owner string) (UsageView, error)
}

// ProofAPI gives signed statements of what was erased; package receipt verifies them.
type ProofAPI interface {
	// Receipt gives the statement on a deletion as a compact JWS. Before it is `deleted`: problem.NotDeleted.
	Receipt(ctx context.Context, deletion string) (string, error)
	// ReceiptKeys gives the keys that receipts verify with, those of replaced keys too.
	ReceiptKeys(ctx context.Context) (jose.JSONWebKeySet, error)
}

// RetentionAPI lets go what has expired.
type RetentionAPI interface {
	// Retention finds what has expired by the policy. With apply its deletion begins in the background, or is refused whole
	// with problem.ShareExceeded.
	Retention(ctx context.Context, apply bool) (Expired, error)
}

// SweepAPI removes what belongs to nobody.
type SweepAPI interface {
	// Sweep looks for orphans in all stores. With apply their deletion begins, in the background. Refusals: problem.EmptyGraph, GraphBehind,
	// ListingFailed, and with apply ShareExceeded.
	Sweep(ctx context.Context, apply bool) (Findings, error)
}

// Explanation is for an operator at night.
type Explanation struct {
	Deletion string `json:"deletion"`
	Root     string `json:"root"`
	Status   Status `json:"status"`
	Paused   bool   `json:"paused"`
	Stalled  bool   `json:"stalled"`
	// WaitsFor says in a sentence what comes next; Since is when that began.
	WaitsFor string     `json:"waits_for"`
	Since    *time.Time `json:"since,omitempty"`
	// LastError and NextTry are those of the step that is tried next; of a command that is not sent, what the broker answered to
	// the process that is asked (for operators), and when its claim ends.
	LastError string     `json:"last_error,omitempty"`
	NextTry   *time.Time `json:"next_try,omitempty"`
	// Causes are the steps that are not done, the first 100.
	Causes []Cause `json:"causes"`
	// MayDo are the ways on: commands of the CLI, quoted for a shell, with a word before them where one is needed.
	MayDo []string `json:"may_do"`
}

// Cause is one step that is not done.
type Cause struct {
	Asset     string     `json:"asset"`
	Part      string     `json:"part"`
	Status    string     `json:"status"`
	Attempts  int        `json:"attempts"`
	LastError string     `json:"last_error,omitempty"`
	NextTry   *time.Time `json:"next_try,omitempty"`
}

// Force names the part to give up.
type Force struct {
	Part   string `json:"part"`
	Reason string `json:"reason"`
}

// AuditItem is one line of the trail.
type AuditItem struct {
	Sequence   int64     `json:"sequence"`
	Time       time.Time `json:"time"`
	Type       string    `json:"type"`
	Deletion   string    `json:"deletion"`
	Asset      string    `json:"asset"`
	Generation string    `json:"generation"`
	By         string    `json:"by"`
	Reason     string    `json:"reason"`
	Part       string    `json:"part,omitempty"`
	Detail     string    `json:"detail,omitempty"`
}

// UsageView is what the API tells of an owner. Assets and Bytes count what is not deleted, Pending what of these bytes is
// deleting and will be released.
type UsageView struct {
	Assets  int64      `json:"assets"`
	Bytes   int64      `json:"bytes"` // as declared at PUT
	Pending int64      `json:"pending_release_bytes"`
	Limit   UsageLimit `json:"limit"`
}

// UsageLimit is the policy's quota; 0: no limit.
type UsageLimit struct {
	Assets int64 `json:"assets"`
	Bytes  int64 `json:"bytes"`
}
