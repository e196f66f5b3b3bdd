package telemetry

import (
	"context"
	"errors"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Stores gives the stores of an eraser, whose failing calls are counted from now on.
func (m *Metrics) Stores(c asset.Config) asset.Config {
	c.Documents = documents{c.Documents, m}
	c.Blobs = blobs{c.Blobs, m}
	c.Ledger = ledger{c.Ledger, m}
	return c
}

// failed counts a call, once for each reason why something of it failed.
func (m *Metrics) failed(store string, errs ...error) {
	seen := map[string]bool{}
	for _, err := range errs {
		if code := codeOf(err); code != "" && !seen[code] {
			seen[code] = true
			m.eraseErrors.WithLabelValues(store, code).Inc()
		}
	}
}

// codeOf is the stable name of an error; empty where there is none, or where we gave up ourselves.
func codeOf(err error) string {
	switch blocked := asset.AsBlocked(err); {
	case err == nil, errors.Is(err, context.Canceled):
		return ""
	case blocked != nil:
		return string(blocked.Reason)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "unavailable"
}

type documents struct {
	asset.Documents
	m *Metrics
}

func (d documents) Delete(ctx context.Context, refs []asset.DocumentRef) []error {
	errs := d.Documents.Delete(ctx, refs)
	d.m.failed("documents", errs...)
	return errs
}

func (d documents) Exists(ctx context.Context, refs []asset.DocumentRef) ([]bool, []error) {
	exists, errs := d.Documents.Exists(ctx, refs)
	d.m.failed("documents", errs...)
	return exists, errs
}

type blobs struct {
	asset.Blobs
	m *Metrics
}

func (b blobs) List(ctx context.Context, places []asset.Place, limit int) ([]asset.Listing, []error) {
	listings, errs := b.Blobs.List(ctx, places, limit)
	b.m.failed("blobs", errs...)
	return listings, errs
}

func (b blobs) Delete(ctx context.Context, bucket string, versions []asset.Version) []error {
	errs := b.Blobs.Delete(ctx, bucket, versions)
	b.m.failed("blobs", errs...)
	return errs
}

type ledger struct {
	asset.Ledger
	m *Metrics
}

func (l ledger) Open(ctx context.Context, heads []asset.Head) ([]asset.Entry, []error) {
	entries, errs := l.Ledger.Open(ctx, heads)
	l.m.failed("ledger", errs...)
	return entries, errs
}
