package s3

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/services/asset"
)

// maxProbes bounds the questions why versions could not be deleted: of many, the first ones speak for all.
const maxProbes = 20

// lock is what keeps a version: its obstacle, or nothing.
type lock struct {
	*asset.Blocked
	governance bool // those who may bypass it can delete the version all the same
}

// explainLocks asks of versions that the store refused to delete whether an object lock keeps them: the refusal itself looks
// like a missing permission. It gives those whose lock may be bypassed and that may be deleted so.
func (d *deletion) explainLocks(ctx context.Context) (lifted []int) {
	probed := d.denied[:min(len(d.denied), maxProbes)]
	locks := make([]lock, len(probed))
	var g errgroup.Group
	g.SetLimit(lanes)
	for n, i := range probed {
		g.Go(func() error { locks[n] = d.lock(ctx, d.versions[i]); return nil })
	}
	_ = g.Wait() // what cannot be asked stays as it was
	for n, i := range d.denied {
		l := locks[min(n, len(locks)-1)]
		if l.Blocked == nil {
			continue
		}
		d.errs[i] = l.Blocked
		if l.governance && d.versions[i].GovernanceBypass && !d.bypass {
			lifted = append(lifted, i)
		}
	}
	return lifted
}

// lift deletes versions with a bypass of governance-mode retention. The header goes nowhere else: a bucket without object
// locks refuses it. Without the right to bypass, the lock stays what keeps them.
func (d *deletion) lift(ctx context.Context, versions []int) {
	again := deletion{store: d.store, bucket: d.bucket, pace: d.pace, versions: d.versions, errs: d.errs, bypass: true}
	again.send(ctx, versions)
	again.explainLocks(ctx)
}

// lock tells which object lock keeps a version; none when none does, or when that cannot be found out.
func (d *deletion) lock(ctx context.Context, v asset.Version) lock {
	client := d.store.client(d.bucket)
	held, until, now := false, time.Time{}, time.Now()
	var mode types.ObjectLockRetentionMode
	_ = d.store.request(ctx, func(ctx context.Context) error { // no answer: no lock known
		out, err := client.GetObjectLegalHold(ctx, &s3.GetObjectLegalHoldInput{Bucket: &d.bucket, Key: &v.Key, VersionId: versionID(v)})
		held = err == nil && out.LegalHold != nil && out.LegalHold.Status == types.ObjectLockLegalHoldStatusOn
		return err
	})
	_ = d.store.request(ctx, func(ctx context.Context) error { // no answer: no lock known
		out, err := client.GetObjectRetention(ctx, &s3.GetObjectRetentionInput{Bucket: &d.bucket, Key: &v.Key, VersionId: versionID(v)})
		if err == nil && out.Retention != nil {
			until, mode = aws.ToTime(out.Retention.RetainUntilDate).UTC(), out.Retention.Mode
			if theirs := serverTime(out.ResultMetadata); !theirs.IsZero() {
				now = theirs // a lock ends by the store's clock
			}
		}
		return err
	})
	switch {
	case held:
		return lock{Blocked: locked(time.Time{}, "a legal hold keeps %q in bucket %s", v.Key, d.bucket)}
	case until.After(now):
		what := fmt.Sprintf("%s-mode retention keeps %q in bucket %s until %s", strings.ToLower(string(mode)), v.Key, d.bucket, until.Format(time.RFC3339))
		if d.bypass {
			what += "; the policy lets us bypass it, the store does not"
		}
		return lock{locked(until, "%s", what), mode == types.ObjectLockRetentionModeGovernance}
	}
	return lock{}
}

func locked(until time.Time, detail string, args ...any) *asset.Blocked {
	return &asset.Blocked{Reason: asset.ReasonObjectLocked, Until: until, Detail: fmt.Sprintf(detail, args...)}
}
