package crash

import (
	"context"
	"path"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// forgetful is a ledger that keeps nothing.
type forgetful struct{}

func (forgetful) Open(_ context.Context, heads []asset.Head) ([]asset.Entry, []error) {
	entries := make([]asset.Entry, len(heads))
	for i := range entries {
		entries[i] = asset.Entry{Fresh: true, Pages: 1}
	}
	return entries, make([]error, len(heads))
}

func (forgetful) Page(context.Context, asset.LedgerKey, int, asset.Inventory) (bool, error) {
	return true, nil
}

func (forgetful) Done(_ context.Context, records []asset.Record) ([]events.PartEvidence, []error) {
	var evidence []events.PartEvidence
	for _, r := range records {
		evidence = append(evidence, r.Evidence)
	}
	return evidence, make([]error, len(records))
}

func (forgetful) Totals(context.Context, asset.LedgerKey) (asset.Inventory, error) {
	return asset.Inventory{}, nil
}

// yes is a gate that wants everything erased.
type yes struct{ asset.Gate }

func (g yes) Current(ctx context.Context, questions []events.Question) ([]events.Answer, error) {
	answers, err := g.Gate.Current(ctx, questions)
	for i := range answers {
		answers[i] = events.Answer{Erase: true, Owner: owner, Kind: "scan"}
	}
	return answers, err
}

// unfenced compares no generations.
type unfenced struct{ asset.Documents }

func anyGeneration(refs []asset.DocumentRef) (out []asset.DocumentRef) {
	for _, r := range refs {
		r.Fenced = true
		out = append(out, r)
	}
	return out
}

func (d unfenced) Delete(ctx context.Context, refs []asset.DocumentRef) []error {
	return d.Documents.Delete(ctx, anyGeneration(refs))
}

func (d unfenced) Exists(ctx context.Context, refs []asset.DocumentRef) ([]bool, []error) {
	return d.Documents.Exists(ctx, anyGeneration(refs))
}

// sweeping deletes all that is where the versions are.
type sweeping struct{ asset.Blobs }

func (b sweeping) Delete(ctx context.Context, bucket string, versions []asset.Version) []error {
	listings, errs := b.Blobs.List(ctx, []asset.Place{{Bucket: bucket, Prefix: path.Dir(versions[0].Key) + "/"}}, 1000)
	if errs[0] == nil {
		b.Blobs.Delete(ctx, bucket, listings[0].Versions)
	}
	return b.Blobs.Delete(ctx, bucket, versions)
}

// blind does not see unfinished uploads.
type blind struct{ asset.Blobs }

func (b blind) List(ctx context.Context, places []asset.Place, limit int) ([]asset.Listing, []error) {
	listings, errs := b.Blobs.List(ctx, places, limit)
	for i := range listings {
		var seen []asset.Version
		for _, v := range listings[i].Versions {
			if !v.Upload {
				seen = append(seen, v)
			}
		}
		listings[i].Versions = seen
	}
	return listings, errs
}
