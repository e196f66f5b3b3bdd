// Package problem names the refusals that Tombstone gives, once for both services, the HTTP API and its client.
//
// A refusal is not a failure: the request was understood and must not be carried out, and nothing has changed. Failures
// (a store that does not answer) are ordinary wrapped errors, but for Unavailable, which names the store.
package problem

import (
	"errors"
	"fmt"
	"net/http"
)

// Name is the last segment of an RFC 9457 problem type, `/problems/NAME`. Names are part of the public contract.
type Name string

// The refusals.
const (
	Unauthenticated      Name = "unauthenticated"
	Forbidden            Name = "forbidden"
	NotFound             Name = "not-found"
	Gone                 Name = "gone"
	MethodNotAllowed     Name = "method-not-allowed"
	PayloadTooLarge      Name = "payload-too-large"
	InvalidRequest       Name = "invalid-request"
	InvalidID            Name = "invalid-id"
	UnknownKind          Name = "unknown-kind"
	UnknownLinkType      Name = "unknown-link-type"
	UnknownPart          Name = "unknown-part"
	KindChanged          Name = "kind-changed"
	SelfLink             Name = "self-link"
	LocationTooLong      Name = "location-too-long"
	InvalidAttribute     Name = "invalid-attribute"
	AttributeFixed       Name = "attribute-fixed"
	PlaceTaken           Name = "place-taken"
	LinkTargetNotFound   Name = "link-target-not-found"
	LinkTargetDeleting   Name = "link-target-deleting"
	DeletionInProgress   Name = "deletion-in-progress"
	HasDependants        Name = "has-dependants"
	TooManyAssets        Name = "too-many-assets"
	ShareExceeded        Name = "share-exceeded"
	PlanChanged          Name = "plan-changed"
	EmptyGraph           Name = "empty-graph"
	GraphBehind          Name = "graph-behind"
	ListingFailed        Name = "listing-failed"
	GenerationMismatch   Name = "generation-mismatch"
	OnHold               Name = "on-hold"
	IdempotencyKeyReused Name = "idempotency-key-reused"
	QuotaExceeded        Name = "quota-exceeded"
	RateLimited          Name = "rate-limited"
	OwnerErasing         Name = "owner-erasing"
	TooLate              Name = "too-late"
	NotDeleted           Name = "not-deleted"
	Leased               Name = "leased"
	LeaseLost            Name = "lease-lost"
	NoGrant              Name = "no-grant"
	Unavailable          Name = "unavailable"
	Internal             Name = "internal"
)

// statuses is the one table between names and HTTP status codes.
var statuses = map[Name]int{
	Unauthenticated:      http.StatusUnauthorized,
	Forbidden:            http.StatusForbidden,
	NotFound:             http.StatusNotFound,
	LinkTargetNotFound:   http.StatusNotFound,
	UnknownPart:          http.StatusNotFound,
	MethodNotAllowed:     http.StatusMethodNotAllowed,
	PlaceTaken:           http.StatusConflict,
	LinkTargetDeleting:   http.StatusConflict,
	DeletionInProgress:   http.StatusConflict,
	HasDependants:        http.StatusConflict,
	TooManyAssets:        http.StatusConflict,
	ShareExceeded:        http.StatusConflict,
	PlanChanged:          http.StatusConflict,
	EmptyGraph:           http.StatusConflict,
	GraphBehind:          http.StatusConflict,
	ListingFailed:        http.StatusConflict,
	OwnerErasing:         http.StatusConflict,
	TooLate:              http.StatusConflict,
	NotDeleted:           http.StatusConflict,
	Leased:               http.StatusConflict,
	LeaseLost:            http.StatusConflict,
	Gone:                 http.StatusGone,
	GenerationMismatch:   http.StatusPreconditionFailed,
	PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	InvalidRequest:       http.StatusUnprocessableEntity,
	InvalidID:            http.StatusUnprocessableEntity,
	UnknownKind:          http.StatusUnprocessableEntity,
	UnknownLinkType:      http.StatusUnprocessableEntity,
	KindChanged:          http.StatusUnprocessableEntity,
	SelfLink:             http.StatusUnprocessableEntity,
	LocationTooLong:      http.StatusUnprocessableEntity,
	InvalidAttribute:     http.StatusUnprocessableEntity,
	AttributeFixed:       http.StatusUnprocessableEntity,
	IdempotencyKeyReused: http.StatusUnprocessableEntity,
	NoGrant:              http.StatusUnprocessableEntity,
	OnHold:               http.StatusLocked,
	QuotaExceeded:        http.StatusTooManyRequests,
	RateLimited:          http.StatusTooManyRequests,
	Internal:             http.StatusInternalServerError,
	Unavailable:          http.StatusServiceUnavailable,
}

// Status is the HTTP status code that goes with the name; 500 for an unknown one.
func (n Name) Status() int {
	if s, ok := statuses[n]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// Problem is one refusal: a name that callers branch on, a sentence that says what to do, and members that belong to
// this name (`dependants` of has-dependants, …). It is comparable by name with errors.Is(err, problem.OnHold).
type Problem struct {
	Name   Name
	Detail string
	// Field is the place of the fault in the request ("links[0].to"); empty where there is no single one.
	Field string
	// Members are further members of the problem document.
	Members map[string]any
}

// New makes a refusal; detail is a format for people and says what to do.
func New(name Name, detail string, args ...any) *Problem {
	return &Problem{Name: name, Detail: fmt.Sprintf(detail, args...)}
}

// At names the place of the fault in the request.
func (p *Problem) At(field string) *Problem { p.Field = field; return p }

// With adds a member of the problem document.
func (p *Problem) With(member string, value any) *Problem {
	if p.Members == nil {
		p.Members = map[string]any{}
	}
	p.Members[member] = value
	return p
}

// Error tells the name and the sentence.
func (p *Problem) Error() string { return string(p.Name) + ": " + p.Detail }

// Is makes errors.Is(err, problem.OnHold) true for a refusal of that name.
func (p *Problem) Is(target error) bool {
	n, ok := target.(Name)
	return ok && n == p.Name
}

// Error lets a Name stand as the target of errors.Is.
func (n Name) Error() string { return string(n) }

// As finds the refusal in an error chain; nil when there is none.
func As(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return nil
}
