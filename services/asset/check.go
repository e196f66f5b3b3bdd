package asset

import (
	"context"
	"fmt"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// The reasons of findings that never block an erasure.
const (
	// ReasonVersioningOff: a place without {generation} is in a bucket that keeps no versions. Cure: enable versioning, put
	// {generation} into the place, or accept the risk with `unfenced: true`.
	ReasonVersioningOff Reason = "versioning-off"
	// ReasonReplicated: the bucket is replicated; copies there are out of our reach. Cure: erase them where they are.
	ReasonReplicated Reason = "bucket-replicated"
	// ReasonSettingsHidden: we may not ask whether the bucket has object locks, or is replicated. Cure: grant it.
	ReasonSettingsHidden Reason = "bucket-settings-hidden"
	// ReasonDocumentsExpire: a TTL index removes documents behind our back. Cure: drop it, and use `retention`.
	ReasonDocumentsExpire Reason = "documents-expire"
	// ReasonUnavailable: the store does not answer. Cure: start it, or correct its address.
	ReasonUnavailable Reason = "store-unavailable"
)

// CheckBuckets looks at the object store as the policy needs it, for the start. No finding: all is well. It changes nothing.
func CheckBuckets(ctx context.Context, c Config) []events.StoreFinding {
	return lookAtBuckets(ctx, c).Findings
}

// LookAtStores tells whether they answer, whether every bucket exists, how it keeps versions, and whether there is a fence for
// every place. It needs the policy, the documents and the blobs of the configuration.
func LookAtStores(ctx context.Context, c Config) events.StoresView {
	findings := []events.StoreFinding{}
	if err := c.Documents.Ping(ctx); err != nil {
		findings = append(findings, storeFinding("", fmt.Errorf("documents: %w", err)))
	} else {
		findings = append(findings, expiryFindings(ctx, c)...)
	}
	seen := lookAtBuckets(ctx, c)
	seen.Findings = append(findings, seen.Findings...)
	return seen
}

// Stores looks at the stores now. It changes nothing.
func (s *Service) Stores(ctx context.Context) (events.StoresView, error) {
	return LookAtStores(ctx, Config{Policy: s.policy, Documents: s.documents, Blobs: s.blobs}), nil
}

// lookAtBuckets is the part of it that asks the object store alone.
func lookAtBuckets(ctx context.Context, c Config) events.StoresView {
	buckets := []events.BucketView{}
	var findings []events.StoreFinding
	modes := map[string]BucketMode{}
	for _, bucket := range c.Policy.Buckets() {
		mode, err := c.Blobs.Mode(ctx, bucket)
		if err != nil {
			findings = append(findings, storeFinding(bucket, fmt.Errorf("bucket %q: %w", bucket, err)))
			continue
		}
		modes[bucket] = mode
		buckets = append(buckets, events.BucketView{Bucket: bucket, Versioning: mode.Versioning, ObjectLock: mode.ObjectLock, Replicated: mode.Replicated})
		if mode.Hidden != "" {
			findings = append(findings, events.StoreFinding{Reason: string(ReasonSettingsHidden), Bucket: bucket,
				Detail: fmt.Sprintf("bucket %q: we may not ask for its %s; grant our identity to read it", bucket, mode.Hidden)})
		}
		if mode.Replicated {
			findings = append(findings, events.StoreFinding{Reason: string(ReasonReplicated), Bucket: bucket,
				Detail: fmt.Sprintf("bucket %q is replicated; copies elsewhere are not erased by us", bucket)})
		}
	}
	for _, place := range c.Policy.NeedVersions() {
		if mode, known := modes[place.Bucket]; known && mode.Versioning != "enabled" {
			findings = append(findings, versioningFinding(place, mode))
		}
	}
	return events.StoresView{Buckets: buckets, Findings: findings}
}

// expiryFindings tells of collections whose documents the store removes by itself.
func expiryFindings(ctx context.Context, c Config) (findings []events.StoreFinding) {
	for _, collection := range c.Policy.Collections() {
		index, err := c.Documents.Expires(ctx, collection)
		switch {
		case err != nil:
			findings = append(findings, storeFinding("", fmt.Errorf("collection %q: %w", collection, err)))
		case index != "":
			findings = append(findings, events.StoreFinding{Reason: string(ReasonDocumentsExpire), Detail: fmt.Sprintf(
				"the TTL index %q of collection %q removes documents by itself, without a deletion and without a trail: drop it, and let retention of the policy do that", index, collection)})
		}
	}
	return findings
}

// storeFinding tells an obstacle, which somebody must remove, from a store that may answer later.
func storeFinding(bucket string, err error) events.StoreFinding {
	if blocked := AsBlocked(err); blocked != nil {
		return events.StoreFinding{Reason: string(blocked.Reason), Bucket: bucket, Detail: err.Error()}
	}
	return events.StoreFinding{Reason: string(ReasonUnavailable), Bucket: bucket, Detail: err.Error()}
}

func versioningFinding(place policy.Unversioned, mode BucketMode) events.StoreFinding {
	return events.StoreFinding{
		Fatal: true, Reason: string(ReasonVersioningOff), Kind: place.Kind, Part: place.Part, Bucket: place.Bucket,
		Detail: fmt.Sprintf("part %q of kind %q lacks {generation}, and versioning is %s in bucket %q: enable versioning, put {generation} into the place, or say unfenced: true",
			place.Part, place.Kind, mode.Versioning, place.Bucket),
	}
}
