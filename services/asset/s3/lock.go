package s3

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/services/asset"
)

// maxProbes bounds the questions why versions could not be deleted: of many, the first ones speak for all.
const maxProbes = 20

// explainLocks asks of versions that the store refused to delete whether an object lock keeps them: the refusal itself looks
// like a missing permission.
func (d *deletion) explainLocks(ctx context.Context) {
	probed := d.denied[:min(len(d.denied), maxProbes)]
	locks := make([]*asset.Blocked, len(probed))
	var g errgroup.Group
	g.SetLimit(lanes)
	for n, i := range probed {
		g.Go(func() error { locks[n] = d.lock(ctx, d.versions[i]); return nil })
	}
	_ = g.Wait() // what cannot be asked stays as it was
	for n, lock := range locks {
		if lock != nil {
			d.errs[probed[n]] = lock
		}
	}
	if len(probed) > 0 && locks[len(probed)-1] != nil {
		for _, i := range d.denied[len(probed):] {
			d.errs[i] = locks[len(probed)-1]
		}
	}
}

// lock tells which object lock keeps a version; nil when none does, or when that cannot be found out.
func (d *deletion) lock(ctx context.Context, v asset.Version) *asset.Blocked {
	client := d.store.client(d.bucket)
	var held bool
	var until time.Time
	_ = d.store.request(ctx, func(ctx context.Context) error { // no answer: no lock known
		out, err := client.GetObjectLegalHold(ctx, &s3.GetObjectLegalHoldInput{Bucket: &d.bucket, Key: &v.Key, VersionId: versionID(v)})
		held = err == nil && out.LegalHold != nil && out.LegalHold.Status == types.ObjectLockLegalHoldStatusOn
		return err
	})
	_ = d.store.request(ctx, func(ctx context.Context) error { // no answer: no lock known
		out, err := client.GetObjectRetention(ctx, &s3.GetObjectRetentionInput{Bucket: &d.bucket, Key: &v.Key, VersionId: versionID(v)})
		if err == nil && out.Retention != nil {
			until = aws.ToTime(out.Retention.RetainUntilDate).UTC()
		}
		return err
	})
	switch {
	case held:
		return &asset.Blocked{Reason: asset.ReasonObjectLocked, Detail: fmt.Sprintf("a legal hold keeps %q in bucket %s", v.Key, d.bucket)}
	case until.After(time.Now()):
		return &asset.Blocked{Reason: asset.ReasonObjectLocked, Until: until,
			Detail: fmt.Sprintf("retention keeps %q in bucket %s until %s", v.Key, d.bucket, until.Format(time.RFC3339))}
	}
	return nil
}
