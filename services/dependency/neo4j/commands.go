package neo4j

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Commands gives flags, oldest first.
func (t *tx) Commands(ctx context.Context, f dependency.CommandFilter) ([]dependency.Command, error) {
	var after dependency.Command
	if f.After != nil {
		after = *f.After
	}
	records, err := t.read(ctx, "read command flags", commandMatch(f)+`
		WHERE (size($ids) = 0 OR c.id IN $ids) AND (size($deletions) = 0 OR c.deletion IN $deletions)
			AND c.due_at <= $due_by AND (c.claimed_until IS NULL OR c.claimed_until < $free_at) AND c.since < $older_than
			AND c.since >= $after AND (c.since > $after OR c.id > $after_id)
		WITH DISTINCT c
		RETURN c ORDER BY c.since, c.id LIMIT $limit`,
		params{
			"ids": f.IDs, "deletions": f.Deletions, "keys": pairs(f.Erasures),
			"due_by": orEver(f.DueBy), "free_at": orEver(f.FreeAt), "older_than": orEver(f.OlderThan),
			"after": instant(after.Since), "after_id": after.ID, "limit": orAll(f.Limit),
		})
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeCommand)
}

// commandMatch chooses the index to search. Without anything better it is the one on due_at: many flags may not be due
// for weeks, and those are asked for least. There is none on since, which would cost at every flag; what is found is
// sorted.
func commandMatch(f dependency.CommandFilter) string {
	switch {
	case len(f.Erasures) > 0:
		return "UNWIND $keys AS key MATCH (c:Command {deletion: key[0], asset: key[1]}) USING INDEX SEEK c:Command(deletion, asset)"
	case len(f.IDs) > 0:
		return "UNWIND $ids AS id MATCH (c:Command {id: id}) USING INDEX SEEK c:Command(id)"
	case len(f.Deletions) > 0:
		return "UNWIND $deletions AS deletion MATCH (c:Command) USING INDEX c:Command(deletion, asset) WHERE c.deletion = deletion AND c.asset IS NOT NULL WITH c"
	}
	return "MATCH (c:Command) USING INDEX c:Command(due_at)"
}

// SaveCommands writes flags and hangs new ones on their assets.
func (t *tx) SaveCommands(ctx context.Context, commands []dependency.Command) error {
	rows := make([]params, len(commands))
	for i, c := range commands {
		rows[i] = encodeCommand(c)
	}
	return t.writeRows(ctx, "save command flags", `
		UNWIND $rows AS row
		MERGE (c:Command {id: row.id}) SET c += row
		WITH c, row WHERE NOT EXISTS { (c)<-[:`+pending+`]-() }
		MATCH (n:<asset> {<id>: row.asset}) USING INDEX SEEK n:<asset>(<id>)
		CREATE (n)-[:`+pending+`]->(c)`, rows)
}

// RemoveCommands removes flags.
func (t *tx) RemoveCommands(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return t.write(ctx, "remove command flags", "UNWIND $ids AS id MATCH (c:Command {id: id}) USING INDEX SEEK c:Command(id) DETACH DELETE c", params{"ids": inOrder(ids)})
}

// DropCommands removes the flags of deletions.
func (t *tx) DropCommands(ctx context.Context, deletions []string) error {
	if len(deletions) == 0 {
		return nil
	}
	return t.write(ctx, "drop command flags", commandMatch(dependency.CommandFilter{Deletions: deletions})+" DETACH DELETE c",
		params{"deletions": inOrder(deletions)})
}

// CountCommands counts flags, and finds the oldest that is due.
func (t *tx) CountCommands(ctx context.Context, now time.Time) (count int, oldest time.Time, err error) {
	records, err := t.read(ctx, "count command flags",
		"MATCH (c:Command) WITH count(c) AS total OPTIONAL MATCH (d:Command) WHERE d.due_at <= $now RETURN total, min(d.since) AS oldest",
		params{"now": instant(now)})
	if err != nil {
		return 0, time.Time{}, err
	}
	return int(number(records[0], 0)), properties(records[0].AsMap()).moment("oldest"), nil
}

// encodeCommand keeps due_at and since even when they are zero: they are compared.
func encodeCommand(c dependency.Command) params {
	return params{
		"id": c.ID, "deletion": text(c.Deletion), "asset": text(c.Asset), "due_at": instant(c.DueAt), "since": instant(c.Since),
		"claimed_by": text(c.ClaimedBy), "claimed_until": moment(c.ClaimedUntil), "replace": c.Replace, "cause": text(c.Cause),
	}
}

func decodeCommand(p properties) (dependency.Command, error) {
	return dependency.Command{
		ID: p.text("id"), Deletion: p.text("deletion"), Asset: p.text("asset"), DueAt: p.moment("due_at"), Since: p.moment("since"),
		ClaimedBy: p.text("claimed_by"), ClaimedUntil: p.moment("claimed_until"), Replace: p.truth("replace"), Cause: p.text("cause"),
	}, nil
}
