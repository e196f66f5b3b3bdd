package dependency

import (
	"context"
	"time"
)

// Graph is the store of record: nodes and links, deletions and their erasures, command flags, the audit trail, counters.
// All rules live in this package, written once against Tx; an adapter only reads and writes in bulk.
//
// Errors: a store that cannot be reached, or does not answer before ctx ends, is problem.Unavailable (wrapped);
// everything else is returned as it is. Deadlocks, lock timeouts and lost races for a unique id are retried inside Update.
//
// Records come back as they were saved: times in UTC, exact to the microsecond; attributes as encoding/json decodes
// them; an empty slice or map may come back nil.
type Graph interface {
	// Update runs fn in one read-write transaction and commits when fn returns nil; fn's error is returned unchanged and
	// nothing is kept. fn may run several times (a deadlock, a lost connection before commit), so it must start from
	// scratch each time and have no effect outside tx. An error of Update other than fn's may hide a commit that
	// happened ("commit unknown"): callers look again rather than assume.
	Update(ctx context.Context, fn func(tx Tx) error) error
	// View runs fn in one read transaction that sees everything committed before it began (never a lagging replica).
	View(ctx context.Context, fn func(tx Tx) error) error
	// Prepare creates or migrates constraints and indexes; safe from several processes at once, and again.
	Prepare(ctx context.Context) error
	// Ping tells whether the store answers.
	Ping(ctx context.Context) error
	// Close waits for transactions in hand and releases what the adapter holds. A closed graph refuses every call; closing
	// it again does nothing.
	Close(ctx context.Context) error
}

// Tx is one transaction. All slices and maps may be empty; then nothing is sent. Ids that do not exist are absent from
// answers, never an error. Reads see the transaction's own writes. A call that fails ends the transaction: nothing of it
// is kept, even if fn goes on and returns nil.
type Tx interface {
	Lock(ctx context.Context, l Locks) error
	NodeTx
	LinkTx
	DeletionTx
	CommandTx
	TrailTx
	BatchTx
	MiscTx
}

// Locks are what a transaction means to decide on. Lock takes write locks in one order whatever the order given: assets
// by id, then deletions, then owners (AddUsage comes last in every transaction). It must come before the reads that decide: the graph is read-committed, and a
// relationship may be added to a dense node without any lock on it (DESIGN: T1 locks first). Ids that do not exist take
// no lock; the unique id decides between two creations. An owner can be locked before it has a counter.
type Locks struct {
	Assets    []string
	Owners    []string
	Deletions []string
}

// NodeTx reads and writes asset nodes.
type NodeTx interface {
	Nodes(ctx context.Context, ids []string) (map[string]Node, error)
	// SaveNodes writes whole records, creating those that do not exist.
	SaveNodes(ctx context.Context, nodes []Node) error
	// RemoveNodes removes nodes; one that has a relationship of any sort stays, and so does what is not there. Records that
	// name it stay.
	RemoveNodes(ctx context.Context, ids []string) error
	// ListNodes pages in the store's own order of ids.
	ListNodes(ctx context.Context, f NodeFilter) ([]Node, error)
}

// NodeFilter narrows ListNodes; zero members do not.
type NodeFilter struct {
	Kind     string
	Owner    string
	Statuses []Status
	After    string // the last id of the page before
	Limit    int
}

// LinkTx reads and writes relationships. Hidden links are told with Link.Hidden set where links are listed by source,
// and do not count elsewhere.
type LinkTx interface {
	// Outgoing gives all links whose source is one of ids.
	Outgoing(ctx context.Context, ids []string) ([]Link, error)
	// Incoming pages through the links of the given types (nil: all) to one asset, by source id, then type.
	Incoming(ctx context.Context, to string, types []string, after Link, limit int) ([]Source, error)
	// Sources gives the visible links of the given types to any of the targets whose source is live or scheduled, in no
	// order, at most limit of them; as many as limit means that there may be more.
	Sources(ctx context.Context, targets, types []string, limit int) ([]Source, error)
	// Ahead tells what a closure may come to from some assets, nearest first, so that it can be read in bulk: the live assets
	// from which visible links of the types up lead there, over any number of such assets, and the live targets of visible
	// links of the types down to which no other link of these types leads. It gives at most limit, without those it was asked
	// about; where there are more, or cycles, some may be missing.
	Ahead(ctx context.Context, from, up, down []string, limit int) ([]string, error)
	// HiddenLinks gives the links to any of the targets that this deletion hides.
	HiddenLinks(ctx context.Context, targets []string, deletion string) ([]Link, error)
	// Dependants counts, for each target, the sources of visible links of the given types that are live or scheduled,
	// and names the first ones in id order, at most limit. Targets without any are absent. A source that has links of
	// several types to a target counts once.
	Dependants(ctx context.Context, targets, types []string, limit int) (map[string]Dependants, error)
	// SaveLinks creates the links, or sets Hidden on those that exist. Both ends exist.
	SaveLinks(ctx context.Context, links []Link) error
	RemoveLinks(ctx context.Context, links []Link) error
	// Unlink removes links of the assets in either direction, at most limit of them, and says how many it removed; fewer
	// than limit means that none is left.
	Unlink(ctx context.Context, ids []string, limit int) (int, error)
}

// Source is the near end of an incoming link.
type Source struct {
	Link
	Kind      string
	Owner     string
	Status    Status
	Scheduled bool // Status is deleting, and the deletion is only scheduled yet
}

// Dependants of one asset.
type Dependants struct {
	First []string
	Total int
}

// DeletionTx reads and writes deletions and what they do to each asset.
type DeletionTx interface {
	Deletions(ctx context.Context, ids []string) (map[string]DeletionRecord, error)
	SaveDeletions(ctx context.Context, deletions []DeletionRecord) error
	// ListDeletions pages newest first.
	ListDeletions(ctx context.Context, f DeletionFilter) ([]DeletionRecord, error)
	// CountDeletions counts what ListDeletions would give, so at most Limit.
	CountDeletions(ctx context.Context, f DeletionFilter) (int, error)
	Erasures(ctx context.Context, keys []ErasureKey) (map[ErasureKey]Erasure, error)
	SaveErasures(ctx context.Context, erasures []Erasure) error
	// ListErasures pages through a deletion in order of Position; after is the last Position seen, -1 to begin.
	ListErasures(ctx context.Context, deletion string, after, limit int) ([]Erasure, error)
	// FirstErasures gives, for each deletion, those whose Position is below n, in its order; deletions without any are absent.
	FirstErasures(ctx context.Context, deletions []string, n int) (map[string][]Erasure, error)
	// Overdue gives deletions that are deleting, due before the time, and whose StalledAt is not set, the longest due first.
	Overdue(ctx context.Context, dueBefore time.Time, limit int) ([]DeletionRecord, error)
	// CountIncomplete looks at the deletions that are deleting.
	CountIncomplete(ctx context.Context, stalledSince time.Time) (Incomplete, error)
	// DueErasures gives erasures whose CheckAt has come, oldest CheckAt first: of those that are done, or of those that are not.
	DueErasures(ctx context.Context, now time.Time, done bool, limit int) ([]Erasure, error)
}

// Incomplete tells of the deletions that are deleting.
type Incomplete struct {
	Oldest  time.Time      // the earliest DueAt; zero: there is none
	Stalled int            // how many are due before the time given
	Blocked map[string]int // how many are blocked, by reason; nil: none
}

// ErasureKey names an Erasure.
type ErasureKey struct{ Deletion, Asset string }

// DeletionFilter narrows ListDeletions; zero members do not.
type DeletionFilter struct {
	Statuses []Status
	Owner    string
	Batch    string
	// Stalled, when given, asks for deletions that are (true) or are not (false) stalled: Status deleting, and DueAt before
	// StalledSince.
	Stalled      *bool
	StalledSince time.Time
	// Blocked, when set, asks for deletions whose Blocked is set.
	Blocked bool
	After   string // the last id of the page before; ids are UUIDv7, so their order is that of time
	Limit   int
}

// CommandTx reads and writes command flags.
type CommandTx interface {
	// Commands gives flags, oldest Since first.
	Commands(ctx context.Context, f CommandFilter) ([]Command, error)
	SaveCommands(ctx context.Context, commands []Command) error
	RemoveCommands(ctx context.Context, ids []string) error
	// DropCommands removes all flags of deletions.
	DropCommands(ctx context.Context, deletions []string) error
	// CountCommands counts all flags and tells the oldest Since among those due (zero: none).
	CountCommands(ctx context.Context, now time.Time) (count int, oldest time.Time, err error)
}

// CommandFilter narrows Commands; zero members do not.
type CommandFilter struct {
	IDs       []string
	Erasures  []ErasureKey
	Deletions []string
	DueBy     time.Time // DueAt not after it
	FreeAt    time.Time // unclaimed, or claimed until before it
	OlderThan time.Time // Since before it
	// After is the last flag of the page before: only flags that come after it in the order of (Since, ID).
	After *Command
	Limit int
}

// TrailTx is the audit trail and the outbox of its feed.
type TrailTx interface {
	// Append adds entries, each marked unsent. (Asset, Sequence) is unique.
	Append(ctx context.Context, entries []Entry) error
	// Trail pages through one asset's entries, oldest first, after a sequence.
	Trail(ctx context.Context, asset string, after int64, limit int) ([]Entry, error)
	// Entries pages through the entries of all assets in order of their ids (UUIDv7: of time), after an id ("" to begin).
	Entries(ctx context.Context, after string, limit int) ([]Entry, error)
	// CountEntries counts by type the entries whose ids lie in [from, to), of which it looks at the first limit.
	CountEntries(ctx context.Context, from, to string, limit int) (map[string]int, error)
	// LastSequences gives the sequence of the last entry of each asset; those without any are absent.
	LastSequences(ctx context.Context, assets []string) (map[string]int64, error)
	// Unsent gives unsent entries made before the time, oldest first.
	Unsent(ctx context.Context, before time.Time, limit int) ([]Entry, error)
	// MarkSent takes the mark off entries, by id.
	MarkSent(ctx context.Context, ids []string) error
	// MarkUnsent marks entries made since a time again, in order of their ids (UUIDv7: of time), after an id ("" to begin),
	// at most limit. It gives the last id it came to, or "" when no entry was left: the feed was lost and is published anew.
	MarkUnsent(ctx context.Context, since time.Time, after string, limit int) (last string, err error)
}

// BatchTx reads and writes requests for the deletion of many assets.
type BatchTx interface {
	Batches(ctx context.Context, ids []string) (map[string]BatchRecord, error)
	SaveBatches(ctx context.Context, batches []BatchRecord) error
	// OpenBatches gives batches that are open, in no order, at most limit.
	OpenBatches(ctx context.Context, limit int) ([]BatchRecord, error)
	// ErasingOwners gives the open batches by their owners; owners without one are absent.
	ErasingOwners(ctx context.Context, owners []string) (map[string]string, error)
	// CountBatch counts the deletions of a batch by status; a status that none has is absent.
	CountBatch(ctx context.Context, batch string) (map[Status]int, error)
	// SaveRefusals keeps what a batch leaves; a second refusal of an asset replaces the first.
	SaveRefusals(ctx context.Context, refusals []Refusal) error
	// RemoveRefusals forgets those of assets that went after all.
	RemoveRefusals(ctx context.Context, batch string, assets []string) error
	// ListRefusals pages through a batch's refusals in the store's own order of asset ids.
	ListRefusals(ctx context.Context, batch, after string, limit int) ([]Refusal, error)
	// CountRefusals counts them.
	CountRefusals(ctx context.Context, batch string) (int, error)
}

// MiscTx holds small things that must be decided in the same transaction.
type MiscTx interface {
	Usage(ctx context.Context, owners []string) (map[string]Usage, error)
	// AddUsage adds the deltas to the owners' counters, creating them.
	AddUsage(ctx context.Context, deltas map[string]Usage) error
	// Keys looks up remembered Idempotency-Keys by (Subject, Key); the answer has the same order, with an empty Deletion
	// for those unknown.
	Keys(ctx context.Context, keys []Key) ([]Key, error)
	// SaveKeys remembers new keys; where another transaction was faster, Update runs fn again.
	SaveKeys(ctx context.Context, keys []Key) error
	// Places tells which of these places (opaque strings) belong to an asset, and to which.
	Places(ctx context.Context, places []string) (holders map[string]string, err error)
	// SavePlaces gives places to assets. A place has one holder: where another transaction was faster, Update runs fn again.
	SavePlaces(ctx context.Context, holders map[string]string) error
	ReleasePlaces(ctx context.Context, assets []string) error
	// Forget removes the trails of assets, and deletions with their erasures, without a trace. It is for the canary alone: of
	// everything else these are kept for ever. What is not there is fine.
	Forget(ctx context.Context, assets, deletions []string) error
	// Setting is a small durable value (the pause, the places of the policy, the receipt key); empty when never set.
	Setting(ctx context.Context, name string) (string, error)
	// SaveSetting writes it; whoever else writes it waits until this transaction has ended, or begins anew.
	SaveSetting(ctx context.Context, name, value string) error
}
