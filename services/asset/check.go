package asset

import (
	"context"
	"fmt"

	"github.com/tombstone-project/tombstone/policy"
)

// Finding is one thing that is wrong, or worth knowing, with the stores that the policy names.
type Finding struct {
	Fatal  bool // the service must not start (CONTRACT section 4: a place without a fence)
	Reason Reason
	Kind   string // of the part that shows it; empty when it concerns a whole bucket or store
	Part   string
	Bucket string
	Detail string // for people, with what to do
}

// The reasons of findings that never block an erasure.
const (
	// ReasonVersioningOff: a place without {generation} is in a bucket that keeps no versions. Cure: enable versioning, put
	// {generation} into the place, or accept the risk with `unfenced: true`.
	ReasonVersioningOff Reason = "versioning-off"
	// ReasonReplicated: the bucket is replicated; copies there are out of our reach. Cure: erase them where they are.
	ReasonReplicated Reason = "bucket-replicated"
	// ReasonUnavailable: the store does not answer. Cure: start it, or correct its address.
	ReasonUnavailable Reason = "store-unavailable"
)

// CheckStores looks at the stores as the policy needs them, for the start and for `doctor`: do they answer, does every
// bucket exist, and is there a fence for every place. No finding: all is well. It changes nothing.
func CheckStores(ctx context.Context, c Config) []Finding {
	var findings []Finding
	if err := c.Documents.Ping(ctx); err != nil {
		findings = append(findings, storeFinding("", fmt.Errorf("documents: %w", err)))
	}
	modes := map[string]BucketMode{}
	for _, bucket := range c.Policy.Buckets() {
		mode, err := c.Blobs.Mode(ctx, bucket)
		if err != nil {
			findings = append(findings, storeFinding(bucket, fmt.Errorf("bucket %q: %w", bucket, err)))
			continue
		}
		modes[bucket] = mode
		if mode.Replicated {
			findings = append(findings, Finding{Reason: ReasonReplicated, Bucket: bucket,
				Detail: fmt.Sprintf("bucket %q is replicated; copies elsewhere are not erased by us", bucket)})
		}
	}
	for _, place := range c.Policy.NeedVersions() {
		if mode, known := modes[place.Bucket]; known && mode.Versioning != "enabled" {
			findings = append(findings, versioningFinding(place, mode))
		}
	}
	return findings
}

// storeFinding tells an obstacle, which somebody must remove, from a store that may answer later.
func storeFinding(bucket string, err error) Finding {
	if blocked := AsBlocked(err); blocked != nil {
		return Finding{Reason: blocked.Reason, Bucket: bucket, Detail: err.Error()}
	}
	return Finding{Reason: ReasonUnavailable, Bucket: bucket, Detail: err.Error()}
}

func versioningFinding(place policy.Unversioned, mode BucketMode) Finding {
	return Finding{
		Fatal: true, Reason: ReasonVersioningOff, Kind: place.Kind, Part: place.Part, Bucket: place.Bucket,
		Detail: fmt.Sprintf("part %q of kind %q lacks {generation}, and versioning is %s in bucket %q: enable versioning, put {generation} into the place, or say unfenced: true",
			place.Part, place.Kind, mode.Versioning, place.Bucket),
	}
}
