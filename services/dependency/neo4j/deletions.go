package neo4j

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Deletions reads deletions by id.
func (t *tx) Deletions(ctx context.Context, ids []string) (map[string]dependency.DeletionRecord, error) {
	found := map[string]dependency.DeletionRecord{}
	if len(ids) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read deletions", "UNWIND $ids AS id MATCH (d:Deletion {id: id}) USING INDEX SEEK d:Deletion(id) RETURN d", params{"ids": inOrder(ids)})
	if err != nil {
		return nil, err
	}
	list, err := decodeAll(records, decodeDeletion)
	for _, d := range list {
		found[d.ID] = d
	}
	return found, err
}

// SaveDeletions writes deletions.
func (t *tx) SaveDeletions(ctx context.Context, deletions []dependency.DeletionRecord) error {
	rows := make([]params, len(deletions))
	for i, d := range deletions {
		var err error
		if rows[i], err = encodeDeletion(d); err != nil {
			return err
		}
	}
	return t.writeRows(ctx, "save deletions", "UNWIND $rows AS row MERGE (d:Deletion {id: row.id}) SET d += row", rows)
}

// ListDeletions pages newest first. One whose time is not known counts as late.
func (t *tx) ListDeletions(ctx context.Context, f dependency.DeletionFilter) ([]dependency.DeletionRecord, error) {
	match, order, p := matchDeletions(f)
	records, err := t.read(ctx, "list deletions", match+" RETURN d ORDER BY "+order+"d.id DESC LIMIT $limit", p)
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeDeletion)
}

// CountDeletions counts what ListDeletions gives.
func (t *tx) CountDeletions(ctx context.Context, f dependency.DeletionFilter) (int, error) {
	match, _, p := matchDeletions(f)
	records, err := t.read(ctx, "count deletions", match+" WITH d LIMIT $limit RETURN count(d)", p)
	if err != nil {
		return 0, err
	}
	return int(number(records[0], 0)), nil
}

// matchDeletions finds what a filter asks for; order is what the index that serves it begins with.
func matchDeletions(f dependency.DeletionFilter) (match, order string, p params) {
	p = params{
		"after":    cmp.Or(f.After, "~"), // ids are UUIDs
		"statuses": words(f.Statuses), "owner": f.Owner, "batch": f.Batch,
		"late": "", "since": instant(f.StalledSince), "blocked": f.Blocked, "limit": orAll(f.Limit),
	}
	if f.Stalled != nil {
		p["late"] = strconv.FormatBool(*f.Stalled)
	}
	held, order := deletionIndex(f)
	return `
		MATCH (d:Deletion)
		WHERE d.id < $after` + held + ` AND (size($statuses) = 0 OR d.status IN $statuses) AND ($owner = '' OR d.owner = $owner)
			AND ($late = '' OR toBoolean($late) = (d.status = 'deleting' AND coalesce(d.due_at < $since, true)))
			AND (NOT $blocked OR d.blocked IS NOT NULL)`, order, p
}

// deletionIndex chooses what the search holds fast; the order begins with it, as the indexes do.
func deletionIndex(f dependency.DeletionFilter) (condition, order string) {
	switch {
	case f.Batch != "":
		return " AND d.batch = $batch", "d.batch DESC, "
	case f.Owner != "":
		return " AND d.owner = $owner", "d.owner DESC, "
	case len(f.Statuses) == 1:
		return " AND d.status = $statuses[0]", "d.status DESC, "
	case len(f.Statuses) > 1:
		return " AND d.status IN $statuses", ""
	case f.Stalled != nil && *f.Stalled:
		return " AND d.status = 'deleting'", "d.status DESC, "
	}
	return "", ""
}

func encodeDeletion(d dependency.DeletionRecord) (params, error) {
	blocked, err := object(d.Blocked, d.Blocked == nil)
	if err != nil {
		return nil, fmt.Errorf("encode deletion: %w", err)
	}
	return params{
		"id": d.ID, "root": text(d.Root), "owner": text(d.Owner), "parts": texts(d.Parts), "status": string(d.Status),
		"requested_by": text(d.RequestedBy), "reason": text(d.Reason), "traceparent": text(d.TraceParent), "batch": text(d.Batch), "policy": text(d.Policy),
		"requested_at": moment(d.RequestedAt), "due_at": moment(d.DueAt), "sent_at": moment(d.SentAt), "completed_at": moment(d.CompletedAt),
		"stalled_at": moment(d.StalledAt), "blocked_reason": blockedReason(d.Blocked),
		"total": d.Total, "done": d.Done, "blocked": blocked,
	}, nil
}

func decodeDeletion(p properties) (dependency.DeletionRecord, error) {
	d := dependency.DeletionRecord{
		ID: p.text("id"), Root: p.text("root"), Owner: p.text("owner"), Parts: p.texts("parts"), Status: dependency.Status(p.text("status")),
		RequestedBy: p.text("requested_by"), Reason: p.text("reason"), TraceParent: p.text("traceparent"), Batch: p.text("batch"), Policy: p.text("policy"),
		RequestedAt: p.moment("requested_at"), DueAt: p.moment("due_at"), SentAt: p.moment("sent_at"), CompletedAt: p.moment("completed_at"), StalledAt: p.moment("stalled_at"),
		Total: int(p.number("total")), Done: int(p.number("done")),
	}
	return d, p.object("blocked", &d.Blocked)
}
