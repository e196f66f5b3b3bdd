package tracing

import (
	"context"
	"io"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Stores gives the stores, ledger and gate of the asset service, whose calls are spans from now on.
func (t *Tracer) Stores(c asset.Config) asset.Config {
	if t == nil {
		return c
	}
	c.Documents, c.Blobs, c.Ledger = documents{c.Documents, t}, blobs{c.Blobs, t}, ledger{c.Ledger, t}
	return c
}

// Gate makes spans of the questions whether an erasure is still wanted.
func (t *Tracer) Gate(g asset.Gate) asset.Gate {
	if t == nil {
		return g
	}
	return gate{g, t}
}

type documents struct {
	asset.Documents
	t *Tracer
}

func collection(refs []asset.DocumentRef) attribute.KeyValue {
	name := ""
	if len(refs) > 0 {
		name = refs[0].Collection
	}
	return attribute.String("db.collection.name", name)
}

func (d documents) Delete(ctx context.Context, refs []asset.DocumentRef) []error {
	end := d.t.calls(ctx, "documents delete", collection(refs), batchSize(len(refs)))
	errs := d.Documents.Delete(ctx, refs)
	end(errs...)
	return errs
}

func (d documents) Exists(ctx context.Context, refs []asset.DocumentRef) ([]bool, []error) {
	end := d.t.calls(ctx, "documents look", collection(refs), batchSize(len(refs)))
	exists, errs := d.Documents.Exists(ctx, refs)
	end(errs...)
	return exists, errs
}

func (d documents) Put(ctx context.Context, ref asset.DocumentRef, body map[string]any) error {
	end := d.t.calls(ctx, "documents put", attribute.String("db.collection.name", ref.Collection))
	err := d.Documents.Put(ctx, ref, body)
	end(err)
	return err
}

func (d documents) Get(ctx context.Context, ref asset.DocumentRef) (map[string]any, error) {
	end := d.t.calls(ctx, "documents get", attribute.String("db.collection.name", ref.Collection))
	body, err := d.Documents.Get(ctx, ref)
	end(err)
	return body, err
}

type blobs struct {
	asset.Blobs
	t *Tracer
}

func bucket(name string) attribute.KeyValue { return attribute.String("aws.s3.bucket", name) }

func (b blobs) List(ctx context.Context, places []asset.Place, limit int) ([]asset.Listing, []error) {
	name := ""
	if len(places) > 0 {
		name = places[0].Bucket
	}
	end := b.t.calls(ctx, "objects list", bucket(name), batchSize(len(places)))
	listings, errs := b.Blobs.List(ctx, places, limit)
	end(errs...)
	return listings, errs
}

func (b blobs) Delete(ctx context.Context, name string, versions []asset.Version) []error {
	end := b.t.calls(ctx, "objects delete", bucket(name), batchSize(len(versions)))
	errs := b.Blobs.Delete(ctx, name, versions)
	end(errs...)
	return errs
}

func (b blobs) Put(ctx context.Context, name, key string, body io.Reader, size int64) error {
	end := b.t.calls(ctx, "objects put", bucket(name))
	err := b.Blobs.Put(ctx, name, key, body, size)
	end(err)
	return err
}

type ledger struct {
	asset.Ledger
	t *Tracer
}

func (l ledger) Open(ctx context.Context, heads []asset.Head) ([]asset.Entry, []error) {
	end := l.t.calls(ctx, "ledger open", batchSize(len(heads)))
	entries, errs := l.Ledger.Open(ctx, heads)
	end(errs...)
	return entries, errs
}

func (l ledger) Done(ctx context.Context, records []asset.Record) ([]events.PartEvidence, []error) {
	end := l.t.calls(ctx, "ledger done", batchSize(len(records)))
	evidence, errs := l.Ledger.Done(ctx, records)
	end(errs...)
	return evidence, errs
}

type gate struct {
	asset.Gate
	t *Tracer
}

func (g gate) Current(ctx context.Context, questions []events.Question) ([]events.Answer, error) {
	end := g.t.calls(ctx, "gate ask", batchSize(len(questions)))
	answers, err := g.Gate.Current(ctx, questions)
	end(err)
	return answers, err
}
