package asset

import (
	"context"
	"fmt"
)

// remove deletes what the last look found of a part: the document, then the objects, exactly the versions listed. What a
// store refuses is kept with its reason; the look that follows tells what is left, and only that is tried again.
func (r *erasure) remove(ctx context.Context, p *part) {
	p.refused = map[thing]error{}
	errs := make([]error, len(p.seen.documents))
	each(len(errs), func(i int) { errs[i] = r.stores.deleteDocument(ctx, p.seen.documents[i]) })
	if err := worst(errs); err != nil {
		p.err = fmt.Errorf("delete the document: %w", err)
		return // objects wait for their document: it is what leads readers to them
	}
	r.removeObjects(ctx, p)
}

// removeObjects deletes the listed versions, those of each bucket together.
func (r *erasure) removeObjects(ctx context.Context, p *part) {
	byBucket := map[string][]Version{}
	for _, o := range p.seen.objects {
		byBucket[o.bucket] = append(byBucket[o.bucket], o.Version)
	}
	for bucket, versions := range byBucket {
		for i, err := range r.stores.deleteObjects(ctx, bucket, versions) {
			if err != nil {
				p.refused[object{bucket, versions[i]}.thing()] = err
			}
		}
	}
}
