package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/mongo"
	"github.com/tombstone-project/tombstone/services/asset/s3"
)

// blobKeys are credentials that come with embedded stores; empty: the AWS SDK's usual chain.
type blobKeys struct{ access, secret string }

// erasing is how many assets are erased at the same time: they share calls of the stores at every step, and look together for
// places that are neighbours (docs/performance.md has the figures).
const erasing = 1000

// assetService adds the parts of the asset service.
func (p *process) assetService(ctx context.Context, b *bus, gate asset.Gate, keys blobKeys) (*asset.Service, error) {
	documents, err := mongo.Open(p.cfg.DocumentsURI.Reveal(), mongo.Options{Namespace: p.cfg.Namespace})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.DocumentsURI, err)
	}
	p.closers = append(p.closers, func() error {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		return documents.Close(last)
	})
	blobs, err := s3.Open(ctx, s3.Config{Endpoint: p.cfg.BlobsEndpoint, Region: p.cfg.BlobsRegion, AccessKey: keys.access, SecretKey: keys.secret})
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, func() error { blobs.Close(); return nil })
	p.blobs = blobs
	c := asset.Config{Policy: p.policy, Documents: documents, Blobs: blobs, Ledger: documents.Ledger(), Gate: gate, Publisher: b, Names: p.names, Log: p.log}
	eraser := asset.NewEraser(c)
	worker := saga.Worker{Name: "erase", Subscriber: b.Commands(), Handle: eraser.HandleMessage, Park: eraser.Park, InFlight: erasing, Logger: p.log}

	p.ready.store("documents", documents.Ping)
	p.ready.store("blobs", blobs.Ping)
	checked := make(chan struct{})
	p.part("blobs", p.prepare("blobs", func(ctx context.Context) error { return p.checkStores(ctx, c) }, checked))
	p.part("erase", after(worker.Run, checked, b.prepared))
	return asset.NewService(c), nil
}

// checkStores looks at the stores once they answer. A place without a fence stops the process; what else is wrong is told,
// and blocks the deletions that meet it.
func (p *process) checkStores(ctx context.Context, c asset.Config) error {
	var away error
	for _, f := range asset.CheckStores(ctx, c) {
		switch {
		case f.Fatal:
			return refusal{errors.New(f.Detail)}
		case f.Reason == asset.ReasonUnavailable:
			away = errors.Join(away, errors.New(f.Detail))
		default:
			p.log.Warn("store is not as the policy needs it", "reason", string(f.Reason), "bucket", f.Bucket, "detail", f.Detail)
		}
	}
	return away
}
