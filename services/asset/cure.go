package asset

// cures say what removes an obstacle, as a step for people. The reasons that are not here remove themselves.
var cures = map[Reason]string{
	ReasonPaused:               "run `tombstone resume`",
	ReasonKindNotInPolicy:      "put the kind back into the policy until its assets are gone",
	ReasonPartNotInPolicy:      "put the part back into the policy until its assets are gone",
	ReasonLocationInvalid:      "correct the policy's template, or the asset's attribute",
	ReasonKeyInvalid:           "correct id_type in the policy",
	ReasonBucketMissing:        "create the bucket, or correct it in the policy, or correct TOMBSTONE_BLOBS_ENDPOINT and TOMBSTONE_BLOBS_REGION; force the part if the bucket is gone for good",
	ReasonEndpointWrong:        "correct TOMBSTONE_BLOBS_ENDPOINT",
	ReasonDatabaseMissing:      "correct TOMBSTONE_DOCUMENTS_URI",
	ReasonAccessDenied:         "grant our identity to list the bucket with its versions and uploads, to delete versions, and to abort uploads",
	ReasonCredentialsExpired:   "renew the credentials of the object store, and start the service again if they come from its environment or a file",
	ReasonClockSkew:            "set this machine's clock",
	ReasonObjectLocked:         "wait, or lift the lock",
	ReasonDocumentStillPresent: "find who writes the document again",
	ReasonObjectsStillPresent:  "find who writes the objects again, or why the store keeps them",
}

// Cure says what removes the obstacle; empty when nothing is known to.
func (r Reason) Cure() string { return cures[r] }
