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
	"github.com/tombstone-project/tombstone/services/dependency/storesrpc"
)

// blobKeys are credentials that come with embedded stores; empty: the AWS SDK's usual chain.
type blobKeys struct{ access, secret string }

// erasing is how many assets are erased at the same time: they share calls of the stores at every step, and look together for
// places that are neighbours (docs/performance.md has the figures).
const erasing = 1000

// openStores opens the stores of the asset service. Those that are away are no error.
func (p *process) openStores(ctx context.Context, b *bus, keys blobKeys) (asset.Config, error) {
	documents, err := mongo.Open(p.cfg.DocumentsURI.Reveal(), mongo.Options{Namespace: p.cfg.Namespace, Roots: p.roots})
	if err != nil {
		return asset.Config{}, fmt.Errorf("%s: %w", config.DocumentsURI, err)
	}
	p.closers = append(p.closers, func() error {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		return documents.Close(last)
	})
	blobs, err := s3.Open(ctx, s3.Config{Endpoint: p.cfg.BlobsEndpoint, Region: p.cfg.BlobsRegion, AccessKey: keys.access, SecretKey: keys.secret, Log: p.log, Roots: p.roots})
	if err != nil {
		return asset.Config{}, err
	}
	p.closers = append(p.closers, func() error { blobs.Close(); return nil })
	p.blobs = blobs
	p.ready.store("documents", documents.Ping)
	p.ready.store("blobs", blobs.Ping)
	return p.tracer.Stores(asset.Config{Policy: p.policy, Documents: documents, Blobs: blobs, Ledger: documents.Ledger(), Signer: blobs, Publisher: p.tracer.Publisher(saga.Signed(b, p.keys)), Names: p.names, Log: p.log}), nil
}

// assetService adds the parts of the asset service. The configuration has its gate by now.
func (p *process) assetService(b *bus, c asset.Config) *asset.Service {
	service := asset.NewService(c)
	eraser := asset.NewEraser(p.metrics.Stores(c))
	worker := saga.Worker{Name: "erase", Subscriber: p.metrics.Subscriber(b.Commands()), Handle: saga.Verified(p.keys, p.tracer.Handle(eraser.HandleMessage)), Park: eraser.Park, InFlight: erasing, Grace: handBack, Logger: p.log}
	checked := make(chan struct{})
	p.part("blobs", p.prepare("blobs", func(ctx context.Context) error { return p.checkBuckets(ctx, c) }, checked))
	p.part("erase", after(worker.Run, checked, b.prepared))
	if !p.role.dependency() {
		p.part("stores", p.serveStores(b, storesrpc.Answers{Stores: asset.NewInspector(c), Plant: service.Plant, View: service.Stores}))
	}
	return service
}

// serveStores answers the dependency service's questions over NATS.
func (p *process) serveStores(b *bus, answers storesrpc.Answers) func(context.Context) error {
	return func(ctx context.Context) error {
		stop, err := storesrpc.Serve(b.conn, p.names, p.keys, answers, p.log)
		if err != nil {
			return err
		}
		<-ctx.Done()
		return stop()
	}
}

// checkBuckets looks at the stores once they answer. A place without a fence stops the process; what else is wrong is told,
// and blocks the deletions that meet it.
func (p *process) checkBuckets(ctx context.Context, c asset.Config) error {
	var away error
	for _, f := range asset.CheckBuckets(ctx, c) {
		switch {
		case f.Fatal:
			return refusal{errors.New(f.Detail)}
		case f.Reason == string(asset.ReasonUnavailable):
			away = errors.Join(away, errors.New(f.Detail))
		default:
			p.log.Warn("store is not as the policy needs it", "reason", f.Reason, "bucket", f.Bucket, "detail", f.Detail)
		}
	}
	return away
}
