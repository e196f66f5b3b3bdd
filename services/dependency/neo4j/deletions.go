package neo4j

import (
	"context"
	"fmt"
	"strings"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Deletions reads deletions by id.
func (t *tx) Deletions(ctx context.Context, ids []string) (map[string]dependency.DeletionRecord, error) {
	found := map[string]dependency.DeletionRecord{}
	if len(ids) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read deletions", "UNWIND $ids AS id MATCH (d:Deletion {id: id}) RETURN d", params{"ids": inOrder(ids)})
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
	return t.writeRows(ctx, "save deletions", "UNWIND $rows AS row MERGE (d:Deletion {id: row.id}) SET d = row", rows)
}

// ListDeletions pages newest first. Each filter has a text, so that each has a plan that fits; the order begins with
// what the filter holds fast, as the indexes do.
func (t *tx) ListDeletions(ctx context.Context, f dependency.DeletionFilter) ([]dependency.DeletionRecord, error) {
	where, order, p := deletionFilter(f)
	records, err := t.read(ctx, "list deletions",
		"MATCH (d:Deletion) WHERE "+strings.Join(where, " AND ")+" RETURN d ORDER BY "+order+"d.id DESC"+limit(p, f.Limit), p)
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeDeletion)
}

func deletionFilter(f dependency.DeletionFilter) (where []string, order string, p params) {
	where, p = []string{"d.id IS NOT NULL"}, params{}
	and := func(condition, name string, value any) { where, p[name] = append(where, condition), value }
	if f.After != "" {
		and("d.id < $after", "after", f.After)
	}
	switch len(f.Statuses) {
	case 0:
	case 1:
		order = "d.status DESC, "
		and("d.status = $status", "status", string(f.Statuses[0]))
	default:
		and("d.status IN $statuses", "statuses", words(f.Statuses))
	}
	if f.Owner != "" {
		order = "d.owner DESC, "
		and("d.owner = $owner", "owner", f.Owner)
	}
	if f.Batch != "" {
		order = "d.batch DESC, "
		and("d.batch = $batch", "batch", f.Batch)
	}
	switch {
	case f.Stalled == nil:
	case *f.Stalled:
		and("d.status = 'deleting' AND d.due_at < $since", "since", instant(f.StalledSince))
	default:
		and("(d.status <> 'deleting' OR d.due_at IS NULL OR d.due_at >= $since)", "since", instant(f.StalledSince))
	}
	return where, order, p
}

func encodeDeletion(d dependency.DeletionRecord) (params, error) {
	blocked, err := object(d.Blocked, d.Blocked == nil)
	if err != nil {
		return nil, fmt.Errorf("encode deletion: %w", err)
	}
	return params{
		"id": d.ID, "root": text(d.Root), "owner": text(d.Owner), "parts": texts(d.Parts), "status": string(d.Status),
		"requested_by": text(d.RequestedBy), "reason": text(d.Reason), "traceparent": text(d.TraceParent), "batch": text(d.Batch),
		"requested_at": moment(d.RequestedAt), "due_at": moment(d.DueAt), "sent_at": moment(d.SentAt), "completed_at": moment(d.CompletedAt),
		"total": d.Total, "done": d.Done, "blocked": blocked,
	}, nil
}

func decodeDeletion(p properties) (dependency.DeletionRecord, error) {
	d := dependency.DeletionRecord{
		ID: p.text("id"), Root: p.text("root"), Owner: p.text("owner"), Parts: p.texts("parts"), Status: dependency.Status(p.text("status")),
		RequestedBy: p.text("requested_by"), Reason: p.text("reason"), TraceParent: p.text("traceparent"), Batch: p.text("batch"),
		RequestedAt: p.moment("requested_at"), DueAt: p.moment("due_at"), SentAt: p.moment("sent_at"), CompletedAt: p.moment("completed_at"),
		Total: int(p.number("total")), Done: int(p.number("done")),
	}
	return d, p.object("blocked", &d.Blocked)
}
