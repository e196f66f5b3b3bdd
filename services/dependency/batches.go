package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/problem"
)

// refusalsShown is how many refusals an answer holds; further ones come by cursor.
const refusalsShown = 1000

// Batch tells how far a batch is.
func (s *Service) Batch(ctx context.Context, id, cursor string) (Batch, error) {
	by, err := caller(ctx)
	if err != nil {
		return Batch{}, err
	}
	after, err := decodeCursor("refused", cursor, "")
	if err != nil {
		return Batch{}, err
	}
	var out Batch
	err = s.graph.View(ctx, func(tx Tx) error {
		b, err := visibleBatch(ctx, tx, by, id)
		if err == nil {
			out, err = readBatch(ctx, tx, b, after)
		}
		return err
	})
	return out, err
}

func visibleBatch(ctx context.Context, tx Tx, by Caller, id string) (BatchRecord, error) {
	notFound := problem.New(problem.NotFound, "there is no batch %q", id)
	if !isUUID(id) {
		return BatchRecord{}, notFound
	}
	records, err := tx.Batches(ctx, []string{id})
	if err != nil {
		return BatchRecord{}, err
	}
	b, ok := records[id]
	if !ok || !by.sees(b.Owner) {
		return BatchRecord{}, notFound
	}
	return b, nil
}

func readBatch(ctx context.Context, tx Tx, b BatchRecord, after string) (Batch, error) {
	counts, err := tx.CountBatch(ctx, b.ID)
	if err != nil {
		return Batch{}, err
	}
	out := Batch{ID: b.ID, Status: Deleting, Deleted: counts[Deleted], Cancelled: counts[Cancelled]}
	for _, n := range counts {
		out.Accepted += n
	}
	if !b.Open && out.Deleted+out.Cancelled == out.Accepted {
		out.Status = Deleted
	}
	if out.RefusedTotal, err = tx.CountRefusals(ctx, b.ID); err != nil {
		return Batch{}, err
	}
	list, err := tx.ListRefusals(ctx, b.ID, after, refusalsShown+1)
	if err != nil {
		return Batch{}, err
	}
	cut := page(list, refusalsShown, func(r Refusal) string { return encodeCursor("refused", r.Asset) })
	out.NextCursor = cut.NextCursor
	out.Refused = make([]SetResult, len(cut.Items))
	for i, r := range cut.Items {
		out.Refused[i] = SetResult{ID: r.Asset, Refusal: &problem.Problem{Name: problem.Name(r.Name), Detail: r.Detail, Members: r.Members}}
	}
	return out, nil
}
