package asset

import (
	"errors"
	"time"

	"github.com/tombstone-project/tombstone/events"
)

// Reason is the stable name of an obstacle that a worker cannot get past by itself. Reports, `explain` and metrics show
// it; the comment of each says what removes it.
type Reason string

// The reasons.
const (
	// ReasonPaused: an operator paused physical deletion. Cure: `tombstone resume`.
	ReasonPaused Reason = "paused"
	// ReasonKindNotInPolicy: the policy no longer has the asset's kind. Cure: put the kind back until its assets are gone.
	ReasonKindNotInPolicy Reason = "kind-not-in-policy"
	// ReasonPartNotInPolicy: the command names a part that the kind no longer has. Cure: put the part back.
	ReasonPartNotInPolicy Reason = "part-not-in-policy"
	// ReasonLocationInvalid: a template cannot be worked out for this asset (an attribute is missing or empty). Cure:
	// correct the policy's template, or the adopted node's attribute.
	ReasonLocationInvalid Reason = "location-invalid"
	// ReasonKeyInvalid: the document's key cannot be of the policy's id_type. Cure: correct id_type.
	ReasonKeyInvalid Reason = "document-key-invalid"
	// ReasonBucketMissing: the bucket does not exist. Cure: correct the policy's bucket or the endpoint; or `force` the part
	// when the bucket is gone for good.
	ReasonBucketMissing Reason = events.ReasonBucketMissing
	// ReasonEndpointWrong: what answers at the object store's endpoint is no S3 store, or lacks a call that erasing needs. Cure:
	// correct TOMBSTONE_BLOBS_ENDPOINT.
	ReasonEndpointWrong Reason = "endpoint-wrong"
	// ReasonDatabaseMissing: the document database does not exist. Cure: correct TOMBSTONE_DOCUMENTS_URI.
	ReasonDatabaseMissing Reason = "database-missing"
	// ReasonAccessDenied: the store refuses our identity. Cure: grant it to list, delete, and delete versions.
	ReasonAccessDenied Reason = "access-denied"
	// ReasonCredentialsExpired: the store no longer takes our credentials. Cure: renew them.
	ReasonCredentialsExpired Reason = "credentials-expired"
	// ReasonClockSkew: our clock differs too much from the store's. Cure: set this machine's clock.
	ReasonClockSkew Reason = "clock-skew"
	// ReasonObjectLocked: an object lock (retention or legal hold) keeps a version. Cure: time (Until), or lift the lock.
	ReasonObjectLocked Reason = "object-locked"
	// ReasonDocumentStillPresent: the store says deleted, and the document is there again at each look, or it has its id in
	// another type than the policy says. Cure: find who writes it, or why the store's reads lag behind; correct `id_type`.
	ReasonDocumentStillPresent Reason = "document-still-present"
	// ReasonObjectsStillPresent: the same for objects.
	ReasonObjectsStillPresent Reason = "objects-still-present"
)

// Blocked says that something cannot be erased until somebody, or time, removes the obstacle. Adapters return it for
// obstacles of their store; every other error of theirs is taken for transient.
type Blocked struct {
	Reason Reason
	Detail string    // for people: which bucket, key, role …
	Until  time.Time // when the obstacle ends by itself; zero when that is not known
}

// Error tells the reason, the detail, and the cure.
func (b *Blocked) Error() string {
	text := string(b.Reason)
	if b.Detail != "" {
		text += ": " + b.Detail
	}
	if cure := b.Reason.Cure(); cure != "" {
		text += " (cure: " + cure + ")"
	}
	return text
}

// AsBlocked finds the obstacle in an error chain; nil when there is none.
func AsBlocked(err error) *Blocked {
	var b *Blocked
	if errors.As(err, &b) {
		return b
	}
	return nil
}
