package asset

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// Gate is what the asset service asks of the graph. The dependency service answers it: over NATS, or directly when both
// run in one process. No answer is an error, and then nothing is erased or written.
type Gate interface {
	// Current answers one Answer a Question, in order.
	Current(ctx context.Context, questions []events.Question) ([]events.Answer, error)
	// Admit checks a caller's right to read or write a part now. Refusals: not-found, gone, unknown-part, lease-lost. A
	// write to a part that was erased makes it present again, in its new generation.
	Admit(ctx context.Context, admission events.Admission) (events.Admitted, error)
	// Grant gives the right to one presigned upload; its deadline is on the asset's node when it returns. Refusals:
	// not-found, gone, unknown-part, no-grant, invalid-request, location-too-long.
	Grant(ctx context.Context, r events.GrantRequest) (events.Granted, error)
	// Lease gives a worker the right to write and to change attributes. Refusals: not-found, gone, invalid-request, leased.
	Lease(ctx context.Context, r events.LeaseRequest) (events.Leased, error)
	// Renew prolongs a lease and changes attributes under it. Refusals: not-found, lease-lost, invalid-request,
	// attribute-fixed.
	Renew(ctx context.Context, r events.RenewRequest) (events.Leased, error)
}

// Signer makes URLs with which anybody may do one thing to one object until a time, in whole seconds. It asks nobody, so
// the bucket need not exist. A time that has passed is an error.
type Signer interface {
	// SignPut is for writing the object; with bytes (above 0) only a body of that length.
	SignPut(ctx context.Context, bucket, key string, bytes int64, until time.Time) (Signed, error)
	// SignGet is for reading it.
	SignGet(ctx context.Context, bucket, key string, until time.Time) (Signed, error)
}

// Signed is a request as its sender must send it.
type Signed struct {
	URL     string
	Method  string
	Headers map[string]string // those that must be sent as they are; Host is not among them
}

// FieldGeneration is the field of every stored document that holds its generation.
const FieldGeneration = "generation"

// ErrEmptyKey refuses a document or an object without a key: it could mean everything.
var ErrEmptyKey = errors.New("empty key")

// ErrBadPlace refuses a Place that is not exactly one key, or one prefix that ends in "/"; Place.Check gives it.
var ErrBadPlace = errors.New("a place is one key, or one prefix that ends in a slash")

// ErrNoVersion refuses to delete by key alone in a bucket that keeps versions.
var ErrNoVersion = errors.New("version id missing")

// DocumentRef is one document of one generation. The key alone is the fence when it holds the generation (Fenced); else
// reads and deletes also ask that the `generation` field equals Generation, and a document without that field matches
// too (adopted stores).
type DocumentRef struct {
	Collection string
	Key        string
	IDField    string // empty: _id
	IDType     policy.IDType
	Generation string
	Fenced     bool
	// Exact: where the key is no fence, a document without the field does not match. A recheck asks so: what has no
	// generation may be anybody's by then.
	Exact bool
}

// Documents is the document store. Every call acts on primary data with majority writes. The refs of one call travel
// together; errs and the other slices have one entry a ref, and a bad ref never fails its neighbours. A ref with an empty key is refused with ErrEmptyKey, one whose key cannot be of its IDType with a *Blocked
// (ReasonKeyInvalid), before anything is sent. A wrong address (no such database) is a *Blocked, never "absent". The same
// ref may stand twice in one call.
type Documents interface {
	// Delete removes the documents; a document that is not there is a success. How many there were is what Exists told.
	Delete(ctx context.Context, refs []DocumentRef) (errs []error)
	// Exists looks afresh whether each document is there, by the same comparison as Delete.
	Exists(ctx context.Context, refs []DocumentRef) (exists []bool, errs []error)
	// Put stores the body's fields at top level, with the id field and FieldGeneration added (the body holds neither, nor
	// `_id`); what stood there is replaced whole. Over a document of a greater generation: problem.Gone, unless the key
	// is the fence.
	Put(ctx context.Context, ref DocumentRef, body map[string]any) error
	// OtherType looks afresh whether a document has the ref's key in another id type than the policy says, by the comparison of
	// Delete in all else, and gives that type; empty when there is none. Such a document is the asset's most likely, and is
	// never deleted: the policy must be corrected first.
	OtherType(ctx context.Context, ref DocumentRef) (policy.IDType, error)
	// Expires gives the name of an index by which the store itself removes documents of a collection after a time; empty when
	// there is none, or no such collection.
	Expires(ctx context.Context, collection string) (index string, err error)
	// Get gives the body back, without `_id`, the id field and FieldGeneration, inner objects as map[string]any and
	// arrays as []any; problem.NotFound when there is none of this generation.
	Get(ctx context.Context, ref DocumentRef) (map[string]any, error)
	// Page gives up to limit documents of a whole collection, whoever wrote them: those after a mark, which an earlier page
	// gave as its next; "" begins, and an empty next ends. A page may be empty and have a next one. What stays there
	// meanwhile is told once. Documents whose key is not of the shelf's IDType are left out: they are at no place of ours.
	Page(ctx context.Context, shelf DocumentShelf, mark string, limit int) (kept []KeptDocument, next string, err error)
	// Ping tells whether the store answers.
	Ping(ctx context.Context) error
}

// DocumentShelf is a collection, with the field and the type of the keys by which documents are looked for in it.
type DocumentShelf struct {
	Collection string
	IDField    string // empty: _id
	IDType     policy.IDType
}

// KeptDocument is one document on a shelf.
type KeptDocument struct {
	Key        string // in the spelling of the shelf's IDType
	Generation string // empty for an adopted document
}

// Place is a set of object keys in one bucket: all below Prefix, or Key alone. Exactly one of both is set. Adapters hold each
// place that they are given to Check before they send anything, or to CheckShelf where a page may be of more.
type Place struct {
	Bucket string
	Prefix string
	Key    string
}

// Version is one thing that a listing found at a place: an object version, a delete marker, or an unfinished upload.
type Version struct {
	Key      string
	ID       string // version id ("null" where the store says so; empty in a bucket without versions), or upload id
	Bytes    int64
	Marker   bool
	Upload   bool
	Modified time.Time
	// GovernanceBypass is no listing's: it lets Delete remove the version from under governance-mode retention.
	GovernanceBypass bool
}

// Listing is what one look at a place found: everything, or some of it when More is true. With More there is at least
// one version.
type Listing struct {
	Versions []Version
	More     bool
	// At is when the store answered, or earlier, by its own clock; zero where it does not say.
	At time.Time
}

// Blobs is the object store. Errors say which bucket; a missing bucket is a *Blocked (ReasonBucketMissing), never an
// empty listing; so are refused access, expired credentials, clock skew and object locks, by the reasons of this package.
// A bad place, or a bucket that fails, never fails its neighbours; when the context has ended, every entry is an error and
// nothing was deleted after that. A store that keeps no versions, delete markers or unfinished uploads lists none.
type Blobs interface {
	// List looks afresh at each place, from its start, and gives up to limit versions of each (markers and uploads count),
	// each once. Listings and errs have one entry a place. Neighbouring places of one bucket may share calls.
	List(ctx context.Context, places []Place, limit int) (listings []Listing, errs []error)
	// Page looks afresh at one place, below any other prefix, or (with neither key nor prefix) at a whole bucket, and gives some of its versions (markers and uploads count), at most limit of them, which is
	// 10 at least: those after a mark, which an earlier page gave as its next; "" begins, and an empty next ends. A page may
	// be empty and have a next one. The pages of a place are not one moment; what stays there meanwhile is told once.
	Page(ctx context.Context, place Place, mark string, limit int) (versions []Version, next string, err error)
	// Delete removes exactly these versions of one bucket (and aborts the uploads among them, each by its own id), never by key
	// alone where the bucket has versions, suspended ones too, nor an upload without its id (ErrNoVersion); without a key
	// ErrEmptyKey. What is not there any more is a success. errs has one entry a version. Any
	// number of versions may be given. Governance-mode retention keeps a version unless its GovernanceBypass is set, and the
	// store lets us; compliance mode and legal holds always do.
	Delete(ctx context.Context, bucket string, versions []Version) (errs []error)
	// Mode tells how the bucket keeps versions.
	Mode(ctx context.Context, bucket string) (BucketMode, error)
	// Put writes one object of size bytes (tests, the demo). Without a key: ErrEmptyKey.
	Put(ctx context.Context, bucket, key string, body io.Reader, size int64) error
	// Ping tells whether the store answers.
	Ping(ctx context.Context) error
}

// BucketMode is what a bucket was found to do.
type BucketMode struct {
	Versioning string // "enabled", "suspended" or "off"
	ObjectLock bool
	// Replicated: copies go to places out of our reach.
	Replicated bool
	// Hidden names the settings that we may not ask for; they count as not set.
	Hidden string
}

// LedgerKey names one erasure of one part.
type LedgerKey struct {
	Deletion string
	Asset    string
	Part     string
}

// Inventory is what a look found, written down before anything of it is deleted. The numbers count what no earlier
// inventory of the same erasure has counted; Hash and Versions tell all that the look found.
type Inventory struct {
	Documents int64
	Objects   int64 // versions, delete markers and unfinished uploads
	Bytes     int64
	Hash      string // hex SHA-256 over the sorted entries
	// At is when the look was, by the clock of the object store where it has one: workers' clocks need not agree.
	At time.Time
	// Versions are kept, at most 1,000, where a place does not hold the generation, and where one page does not hold
	// everything: so that an interrupted erasure knows what it has counted already.
	Versions []Version
}

// Entry is the state of the ledger for one key.
type Entry struct {
	Fresh    bool // this call wrote the head; else one stood already
	Done     bool
	Evidence events.PartEvidence // set when Done
	Pages    int                 // inventories written so far; the head holds the first
}

// Ledger is the asset service's memory: append-only, insert first, read only on a duplicate, never updated. It keeps
// what was there (the inventory) before the first destructive step, then that all is gone. One bad entry of a call never
// fails its neighbours; a key that stands twice in one call behaves like two calls.
type Ledger interface {
	// Open writes the head of each erasure with its first inventory. Where a head exists already, the entry tells how
	// far that erasure was; nothing is overwritten. Of a head just written it does not look for an end: Done finds one
	// that stands. Entries and errs have one entry a head.
	Open(ctx context.Context, heads []Head) (entries []Entry, errs []error)
	// Page adds a further inventory; numbers begin at 2, the head being 1. A page with that number that exists already
	// stays as it is; fresh tells that this call wrote it.
	Page(ctx context.Context, key LedgerKey, number int, inventory Inventory) (fresh bool, err error)
	// Done writes the last record of each erasure. Where one exists, the evidence that stands is given back.
	Done(ctx context.Context, records []Record) (evidence []events.PartEvidence, errs []error)
	// Totals adds up the inventories of one erasure, for its evidence after an interruption; Hash is empty, Versions and
	// At are those of the last inventory. Zero when there is none.
	Totals(ctx context.Context, key LedgerKey) (Inventory, error)
}

// Head opens an erasure.
type Head struct {
	Key        LedgerKey
	Generation string // the part's
	Inventory  Inventory
	At         time.Time
}

// Record closes one.
type Record struct {
	Key      LedgerKey
	Evidence events.PartEvidence
}
