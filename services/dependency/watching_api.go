package dependency

import (
	"context"
	"time"
)

// WatchingAPI tells of all deletions at once.
type WatchingAPI interface {
	// Overview counts the deletions that exist for the caller.
	Overview(ctx context.Context) (Overview, error)
	// Changes hands each change of a deletion that exists for the caller to each, those of the last seconds first, until ctx
	// ends. It never returns nil; an error of each ends it, and is returned.
	Changes(ctx context.Context, each func(Change) error) error
}

// Overview is the state of all deletions that exist for a caller. Each count stops at CountedTo.
type Overview struct {
	Requested int `json:"requested"` // all that were ever accepted
	Scheduled int `json:"scheduled"`
	Deleting  int `json:"deleting"`
	Completed int `json:"completed"`
	Cancelled int `json:"cancelled"`
	Blocked   int `json:"blocked"` // of Deleting
	Stalled   int `json:"stalled"` // of Deleting
	CountedTo int `json:"counted_to"`

	Paused bool `json:"paused"`
	// Pause tells who paused, and why; nil unless Paused.
	Pause *Pause `json:"pause,omitempty"`
	// Flags and Activity are for operators; nil for others.
	Flags    *FlagCount `json:"flags,omitempty"`
	Activity []Minute   `json:"activity,omitempty"`
}

// FlagCount is how many command flags there are, those of scheduled deletions too, and how old the oldest is of those due.
type FlagCount struct {
	Count  int        `json:"count"`
	Oldest *time.Time `json:"oldest,omitempty"`
}

// Minute is what was accepted and completed in one minute of the last hour, oldest first.
type Minute struct {
	At        time.Time `json:"at"`
	Requested int       `json:"requested"`
	Completed int       `json:"completed"`
	// OldestPending is the greatest age of a flag that was due, in seconds, as this process saw it; nil where it did not look.
	OldestPending *float64 `json:"oldest_pending_seconds,omitempty"`
}

// Change tells that a deletion has changed, and what it is now.
type Change struct {
	Time     time.Time  `json:"time"`
	Type     string     `json:"type"` // of the last entry in the trail
	Deletion string     `json:"deletion"`
	Root     string     `json:"root"`
	Status   Status     `json:"status"`
	Stalled  bool       `json:"stalled"`
	Blocked  *Blocked   `json:"blocked,omitempty"`
	Assets   AssetCount `json:"assets"`
	// More says that others have changed too which are not told: look at the lists. Such a change names no deletion.
	More bool `json:"more,omitempty"`
}
