package neo4j

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Append adds entries. The label Unsent is the outbox: its index stays small.
func (t *tx) Append(ctx context.Context, entries []dependency.Entry) error {
	rows := make([]params, len(entries))
	for i, e := range entries {
		rows[i] = encodeEntry(e)
	}
	return t.writeRows(ctx, "append to the trail", "UNWIND $rows AS row CREATE (e:AuditEntry:Unsent) SET e = row", rows)
}

// Trail pages through the entries of one asset.
func (t *tx) Trail(ctx context.Context, asset string, after int64, max int) ([]dependency.Entry, error) {
	p := params{"asset": asset, "after": after, "limit": orAll(max)}
	records, err := t.read(ctx, "read the trail",
		"MATCH (e:AuditEntry) WHERE e.asset = $asset AND e.sequence > $after RETURN e ORDER BY e.asset, e.sequence LIMIT $limit", p)
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeEntry)
}

// Entries pages through all entries by id.
func (t *tx) Entries(ctx context.Context, after string, max int) ([]dependency.Entry, error) {
	records, err := t.read(ctx, "read entries", "MATCH (e:AuditEntry) WHERE e.id > $after RETURN e ORDER BY e.id LIMIT $limit",
		params{"after": after, "limit": orAll(max)})
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeEntry)
}

// CountEntries counts by type along the ids.
func (t *tx) CountEntries(ctx context.Context, from, to string, max int) (map[string]int, error) {
	records, err := t.read(ctx, "count entries",
		"MATCH (e:AuditEntry) WHERE e.id >= $from AND e.id < $to WITH e ORDER BY e.id LIMIT $limit RETURN e.type, count(e)",
		params{"from": from, "to": to, "limit": orAll(max)})
	counts := make(map[string]int, len(records))
	for _, r := range records {
		counts[word(r, 0)] = int(number(r, 1))
	}
	return counts, err
}

// LastSequences looks at the end of each trail.
func (t *tx) LastSequences(ctx context.Context, assets []string) (map[string]int64, error) {
	found := map[string]int64{}
	if len(assets) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read the ends of trails",
		"UNWIND $assets AS asset MATCH (e:AuditEntry) WHERE e.asset = asset AND e.sequence > 0 RETURN asset, max(e.sequence)", params{"assets": inOrder(assets)})
	for _, r := range records {
		found[word(r, 0)] = number(r, 1)
	}
	return found, err
}

// Unsent gives entries that the feed has not got, oldest first, those of one asset in their sequence.
func (t *tx) Unsent(ctx context.Context, before time.Time, max int) ([]dependency.Entry, error) {
	p := params{"before": instant(before), "limit": orAll(max)}
	records, err := t.read(ctx, "find unsent entries",
		"MATCH (e:Unsent) WHERE e.time < $before RETURN e ORDER BY e.time, e.asset, e.sequence LIMIT $limit", p)
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeEntry)
}

// MarkSent takes entries out of the outbox.
func (t *tx) MarkSent(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return t.write(ctx, "mark entries as sent", "UNWIND $ids AS id MATCH (e:AuditEntry {id: id}) USING INDEX SEEK e:AuditEntry(id) REMOVE e:Unsent", params{"ids": inOrder(ids)})
}

// MarkUnsent puts a page of entries into the outbox again.
func (t *tx) MarkUnsent(ctx context.Context, since time.Time, after string, max int) (last string, err error) {
	p := params{"since": instant(since), "after": after, "limit": orAll(max)}
	records, err := t.read(ctx, "mark entries as unsent",
		"MATCH (e:AuditEntry) WHERE e.id > $after AND e.time >= $since WITH e ORDER BY e.id LIMIT $limit SET e:Unsent RETURN max(e.id)", p)
	if err != nil {
		return "", err
	}
	return word(records[0], 0), nil
}

// encodeEntry keeps the time even when it is zero: it is compared.
func encodeEntry(e dependency.Entry) params {
	return params{
		"id": e.ID, "asset": e.Asset, "sequence": e.Sequence, "type": text(e.Type), "time": instant(e.Time),
		"deletion": text(e.Deletion), "generation": text(e.Generation), "by": text(e.By), "reason": text(e.Reason), "part": text(e.Part),
		"evidence": text(string(e.Evidence)), "detail": text(e.Detail),
	}
}

func decodeEntry(p properties) (dependency.Entry, error) {
	e := dependency.Entry{
		ID: p.text("id"), Asset: p.text("asset"), Sequence: p.number("sequence"), Type: p.text("type"), Time: p.moment("time"),
		Deletion: p.text("deletion"), Generation: p.text("generation"), By: p.text("by"), Reason: p.text("reason"), Part: p.text("part"),
		Detail: p.text("detail"),
	}
	if evidence := p.text("evidence"); evidence != "" {
		e.Evidence = []byte(evidence)
	}
	return e, nil
}
