// Package policy is the YAML of CONTRACT section 4: parsed with file, line and column in every error, checked as a
// whole, and turned into places. It is pure: no store is asked here.
package policy

import (
	"time"
)

// Policy is a whole, checked policy. It is immutable after Parse.
type Policy struct {
	// Hash is the hex SHA-256 of the canonical form (comments and layout do not count); receipts name it.
	Hash string

	Graph        Graph
	Links        map[string]Link // by relationship type
	Limits       Limits
	Quotas       Quotas
	Grants       Grants
	Tombstones   Tombstones
	ResendAfter  time.Duration // default 15m
	RecheckAfter time.Duration // default 24h
	StalledAfter time.Duration // default 1h
	Events       Events
	Retention    RetentionRun
	Sweep        Sweep
	Canary       Canary
	Kinds        map[string]*Kind
}

// Graph says how nodes are found; an adopted graph keeps its own names.
type Graph struct {
	Label string // default "Asset"
	ID    string // default "id"
	Kind  string // default "kind"
	Owner string // default "owner"
}

// Reaction is what deleting the target of a link does to its source.
type Reaction string

// The reactions.
const (
	Restrict Reaction = "restrict" // refuse while a live source exists
	Cascade  Reaction = "cascade"  // the source goes too
	Detach   Reaction = "detach"   // the link goes, the source stays
)

// Link is the policy of one relationship type.
type Link struct {
	Type           string
	OnTargetDelete Reaction
	// OnLastSourceDelete is `on_last_source: delete`: the last user takes the target along.
	OnLastSourceDelete bool
	// Reversed: in an adopted graph the relationship points from target to source.
	Reversed bool
}

// Limits are the brakes.
type Limits struct {
	MaxAssetsPerDeletion int     // default 10000
	MaxSharePerOwner     float64 // 0..1, default 1.0
}

// Quotas by owner; 0 means no limit.
type Quotas struct {
	Default Quota
	Owners  map[string]Quota
}

// Quota of one owner.
type Quota struct {
	Assets int64
	Bytes  int64
}

// For gives the quota of an owner.
func (q Quotas) For(owner string) Quota {
	if o, ok := q.Owners[owner]; ok {
		return o
	}
	return q.Default
}

// Grants are the times of presigned uploads.
type Grants struct {
	DefaultTTL time.Duration // default 15m
	MaxTTL     time.Duration // default 1h
	Margin     time.Duration // default 5m
}

// Tombstones says how long the node of a deleted asset is kept; 0 for ever.
type Tombstones struct{ Keep time.Duration }

// Events of the feed.
type Events struct{ MaxAge time.Duration } // default 90d

// RetentionRun is the schedule of retention.
type RetentionRun struct {
	Every    time.Duration // default 24h; 0 only by hand
	FirstRun string        // "dry" (default) or "apply"
}

// Sweep is the schedule of the orphan sweep.
type Sweep struct {
	Every  time.Duration // default 0: only by hand
	MinAge time.Duration // default 72h, at least 24h
}

// Canary is the end-to-end probe.
type Canary struct {
	Every  time.Duration // default 0: none
	Bucket string
}

// Kind is one kind of asset.
type Kind struct {
	Name      string
	Grace     time.Duration
	Parts     []*Part // in the order in which they are erased
	Retention *Retention
	// Internal: it is the product's own, and nobody else may create assets of it.
	Internal bool `json:"-"`
}

// Part is one piece of an asset outside the graph: exactly one of Document and Blobs is set.
type Part struct {
	Name      string
	Document  *Document
	Blobs     *Blobs
	Retention *Retention
	// Former are places that this part had before; they are erased too. Each has exactly one of Document and Blobs.
	Former []*Part
}

// Document is the place of a document part.
type Document struct {
	Collection string
	Key        *Template // default "{id}"
	IDField    string    // `id`: default "_id"
	IDType     IDType    // default string
}

// IDType is how an id is stored in the document store.
type IDType string

// The id types.
const (
	IDString   IDType = "string"
	IDObjectID IDType = "objectid"
	IDInt      IDType = "int"
)

// Blobs is the place of an object part: exactly one of Prefix and Key is set.
type Blobs struct {
	Bucket string
	Prefix *Template // contains {id}, ends in "/"
	Key    *Template
	// Unfenced: the operator accepts a place without {generation} in a bucket without versions.
	Unfenced bool
	// GovernanceBypass allows to delete under governance-mode object lock.
	GovernanceBypass bool
}

// Retention of a whole asset or of one part.
type Retention struct {
	After time.Duration // 0 or negative: never
	Clock string        // "created_at" (default), "updated_at" or "attributes.NAME"
	When  map[string][]string
}

// Subject is whose place is asked for.
type Subject struct {
	ID         string
	Owner      string
	Kind       string
	Generation string // the part's
	Attributes map[string]any
}

// Location is a place worked out for one part of one asset.
type Location struct {
	// Collection and DocumentKey are set for a document.
	Collection  string
	DocumentKey string
	IDField     string
	IDType      IDType
	// Bucket and one of Prefix and Key are set for objects.
	Bucket string
	Prefix string
	Key    string
	// Fenced: the generation is part of the place, so nothing of another generation can be there.
	Fenced bool
	// GovernanceBypass as in the policy.
	GovernanceBypass bool
}

// IsDocument tells the two sorts of places apart.
func (l Location) IsDocument() bool { return l.Collection != "" }
