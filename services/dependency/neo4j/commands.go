package neo4j

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Commands gives flags, oldest first. Each filter has a text, so that each has a plan that fits.
func (t *tx) Commands(ctx context.Context, f dependency.CommandFilter) ([]dependency.Command, error) {
	match, where, p := commandFilter(f)
	records, err := t.read(ctx, "read command flags",
		match+" WHERE "+strings.Join(where, " AND ")+" WITH DISTINCT c RETURN c ORDER BY c.since, c.id"+limit(p, f.Limit), p)
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeCommand)
}

// commandFilter gives the clauses for a filter. Where due flags are asked for, the index on due_at is named: the planner
// would rather walk through all flags by age, and most of them may not be due for weeks.
func commandFilter(f dependency.CommandFilter) (match string, where []string, p params) {
	match, where, p = "MATCH (c:Command)", []string{"c.since IS NOT NULL"}, params{}
	and := func(condition, name string, value any) { where, p[name] = append(where, condition), value }
	switch {
	case len(f.Erasures) > 0:
		match, p["keys"] = "UNWIND $keys AS key MATCH (c:Command {deletion: key[0], asset: key[1]})", pairs(f.Erasures)
	case len(f.IDs) == 0 && len(f.Deletions) == 0 && !f.DueBy.IsZero():
		match = "MATCH (c:Command) USING INDEX c:Command(due_at)"
	}
	if len(f.IDs) > 0 {
		and("c.id IN $ids", "ids", f.IDs)
	}
	if len(f.Deletions) > 0 {
		and("c.deletion IN $deletions AND c.asset IS NOT NULL", "deletions", f.Deletions)
	}
	if !f.DueBy.IsZero() {
		and("c.due_at <= $due_by", "due_by", instant(f.DueBy))
	}
	if !f.FreeAt.IsZero() {
		and("(c.claimed_until IS NULL OR c.claimed_until < $free_at)", "free_at", instant(f.FreeAt))
	}
	if !f.OlderThan.IsZero() {
		and("c.since < $older_than", "older_than", instant(f.OlderThan))
	}
	if f.After != nil {
		p["after_id"] = f.After.ID
		and("c.since >= $after AND (c.since > $after OR c.id > $after_id)", "after", instant(f.After.Since))
	}
	return match, where, p
}

// SaveCommands writes flags and hangs new ones on their assets.
func (t *tx) SaveCommands(ctx context.Context, commands []dependency.Command) error {
	rows := make([]params, len(commands))
	for i, c := range commands {
		rows[i] = encodeCommand(c)
	}
	return t.writeRows(ctx, "save command flags", `
		UNWIND $rows AS row
		MERGE (c:Command {id: row.id}) SET c = row
		WITH c, row WHERE NOT EXISTS { (c)<-[:`+pending+`]-() }
		MATCH (n:<asset> {<id>: row.asset})
		CREATE (n)-[:`+pending+`]->(c)`, rows)
}

// RemoveCommands removes flags.
func (t *tx) RemoveCommands(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return t.write(ctx, "remove command flags", "UNWIND $ids AS id MATCH (c:Command {id: id}) DETACH DELETE c", params{"ids": inOrder(ids)})
}

// CountCommands counts flags, and finds the oldest that is due.
func (t *tx) CountCommands(ctx context.Context, now time.Time) (count int, oldest time.Time, err error) {
	records, err := t.read(ctx, "count command flags",
		"MATCH (c:Command) WITH count(c) AS total OPTIONAL MATCH (d:Command) WHERE d.due_at <= $now RETURN total, min(d.since) AS oldest",
		params{"now": instant(now)})
	if err != nil {
		return 0, time.Time{}, err
	}
	if len(records) != 1 {
		return 0, time.Time{}, fmt.Errorf("count command flags: %d records", len(records))
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
