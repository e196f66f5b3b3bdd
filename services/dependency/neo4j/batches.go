package neo4j

import (
	"context"
	"fmt"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Batches reads batches by id.
func (t *tx) Batches(ctx context.Context, ids []string) (map[string]dependency.BatchRecord, error) {
	found := map[string]dependency.BatchRecord{}
	if len(ids) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read batches", "UNWIND $ids AS id MATCH (b:DeletionBatch {id: id}) USING INDEX SEEK b:DeletionBatch(id) RETURN b", params{"ids": inOrder(ids)})
	if err != nil {
		return nil, err
	}
	list, err := decodeAll(records, decodeBatch)
	for _, b := range list {
		found[b.ID] = b
	}
	return found, err
}

// SaveBatches writes batches. An open one has the property erasing, by which it is found.
func (t *tx) SaveBatches(ctx context.Context, batches []dependency.BatchRecord) error {
	rows := make([]params, len(batches))
	for i, b := range batches {
		walk, err := object(b.Walk, b.Walk == dependency.Walk{})
		if err != nil {
			return fmt.Errorf("encode batch: %w", err)
		}
		rows[i] = params{
			"id": b.ID, "owner": text(b.Owner), "requested_by": text(b.RequestedBy), "reason": text(b.Reason), "traceparent": text(b.TraceParent),
			"requested_at": moment(b.RequestedAt), "completed_at": moment(b.CompletedAt), "walk": walk, "erasing": nil,
		}
		if b.Open {
			rows[i]["erasing"] = b.Owner
		}
	}
	return t.writeRows(ctx, "save batches", "UNWIND $rows AS row MERGE (b:DeletionBatch {id: row.id}) SET b += row", rows)
}

func decodeBatch(p properties) (dependency.BatchRecord, error) {
	_, open := p["erasing"]
	b := dependency.BatchRecord{
		ID: p.text("id"), Owner: p.text("owner"), Open: open, RequestedBy: p.text("requested_by"), Reason: p.text("reason"),
		TraceParent: p.text("traceparent"), RequestedAt: p.moment("requested_at"), CompletedAt: p.moment("completed_at"),
	}
	return b, p.object("walk", &b.Walk)
}

// OpenBatches gives those that are open.
func (t *tx) OpenBatches(ctx context.Context, limit int) ([]dependency.BatchRecord, error) {
	records, err := t.read(ctx, "find open batches", "MATCH (b:DeletionBatch) WHERE b.erasing IS NOT NULL RETURN b LIMIT $limit", params{"limit": limit})
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeBatch)
}

// ErasingOwners looks for open batches by owner.
func (t *tx) ErasingOwners(ctx context.Context, owners []string) (map[string]string, error) {
	found := map[string]string{}
	if len(owners) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "find batches of owners", "UNWIND $owners AS owner MATCH (b:DeletionBatch {erasing: owner}) USING INDEX SEEK b:DeletionBatch(erasing) RETURN owner, b.id",
		params{"owners": inOrder(owners)})
	for _, r := range records {
		found[word(r, 0)] = word(r, 1)
	}
	return found, err
}

// CountBatch counts by status.
func (t *tx) CountBatch(ctx context.Context, batch string) (map[dependency.Status]int, error) {
	records, err := t.read(ctx, "count the deletions of a batch", "MATCH (d:Deletion) WHERE d.batch = $batch AND d.id > '' RETURN d.status, count(*)", params{"batch": batch})
	counts := map[dependency.Status]int{}
	for _, r := range records {
		counts[dependency.Status(word(r, 0))] = int(number(r, 1))
	}
	return counts, err
}

// SaveRefusals writes refusals.
func (t *tx) SaveRefusals(ctx context.Context, refusals []dependency.Refusal) error {
	rows := make([]params, len(refusals))
	for i, r := range refusals {
		members, err := object(r.Members, len(r.Members) == 0)
		if err != nil {
			return fmt.Errorf("encode refusal: %w", err)
		}
		rows[i] = params{"batch": r.Batch, "asset": r.Asset, "name": text(r.Name), "detail": text(r.Detail), "members": members}
	}
	return t.writeRows(ctx, "save refusals", "UNWIND $rows AS row MERGE (r:BatchRefusal {batch: row.batch, asset: row.asset}) SET r += row", rows)
}

// RemoveRefusals deletes refusals.
func (t *tx) RemoveRefusals(ctx context.Context, batch string, assets []string) error {
	if len(assets) == 0 {
		return nil
	}
	return t.write(ctx, "remove refusals", "UNWIND $assets AS asset MATCH (r:BatchRefusal {batch: $batch, asset: asset}) USING INDEX SEEK r:BatchRefusal(batch, asset) DELETE r",
		params{"batch": batch, "assets": inOrder(assets)})
}

// ListRefusals pages by asset.
func (t *tx) ListRefusals(ctx context.Context, batch, after string, limit int) ([]dependency.Refusal, error) {
	records, err := t.read(ctx, "list refusals",
		"MATCH (r:BatchRefusal) WHERE r.batch = $batch AND r.asset > $after RETURN r ORDER BY r.batch, r.asset LIMIT $limit",
		params{"batch": batch, "after": after, "limit": limit})
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeRefusal)
}

func decodeRefusal(p properties) (dependency.Refusal, error) {
	r := dependency.Refusal{Batch: p.text("batch"), Asset: p.text("asset"), Name: p.text("name"), Detail: p.text("detail")}
	return r, p.object("members", &r.Members)
}

// CountRefusals counts a batch's.
func (t *tx) CountRefusals(ctx context.Context, batch string) (int, error) {
	records, err := t.read(ctx, "count refusals", "MATCH (r:BatchRefusal) WHERE r.batch = $batch AND r.asset > '' RETURN count(*)", params{"batch": batch})
	if err != nil || len(records) == 0 {
		return 0, err
	}
	return int(number(records[0], 0)), nil
}
