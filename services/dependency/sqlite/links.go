package sqlite

import (
	"context"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var links = table[dependency.Link]{
	name: "links", key: 3,
	columns: []string{"source", "type", "target", "hidden"},
	bind:    func(l *dependency.Link) []any { return []any{&l.From, &l.Type, &l.To, &l.Hidden} },
}

// Outgoing gives the links of the sources, hidden ones too.
func (t *tx) Outgoing(ctx context.Context, ids []string) ([]dependency.Link, error) {
	return links.find(ctx, t, "WHERE source IN (SELECT value FROM json_each(?))", list(ids))
}

// SaveLinks creates links or sets what hides them.
func (t *tx) SaveLinks(ctx context.Context, changed []dependency.Link) error {
	return links.save(ctx, t, changed)
}

// RemoveLinks removes links, hidden or not.
func (t *tx) RemoveLinks(ctx context.Context, removed []dependency.Link) error {
	return each(ctx, t, "DELETE FROM links WHERE source = ? AND type = ? AND target = ?", removed, func(l *dependency.Link) []any {
		return []any{l.From, l.Type, l.To}
	})
}

// unlink takes outgoing links first, then the incoming ones that are not among them, and reads no more than its limit.
const unlink = `DELETE FROM links WHERE (source, type, target) IN (
	SELECT source, type, target FROM links WHERE source IN (SELECT value FROM json_each(?1))
	UNION ALL
	SELECT source, type, target FROM links WHERE target IN (SELECT value FROM json_each(?1)) AND source NOT IN (SELECT value FROM json_each(?1))
	LIMIT ?2)`

// Unlink removes links in either direction.
func (t *tx) Unlink(ctx context.Context, ids []string, limit int) (int, error) {
	n, err := t.change(ctx, unlink, list(ids), limit)
	return int(n), err
}

// incoming walks along links_by_target and looks every source up.
const incoming = `SELECT l.source, l.type, l.target, n.kind, n.owner, n.status, n.status = 'deleting' AND d.status IS 'scheduled'
FROM links l CROSS JOIN nodes n ON n.id = l.source LEFT JOIN deletions d ON d.id = n.deletion
WHERE l.target = ? AND l.hidden = '' AND (l.source, l.type) > (?, ?) `

// Incoming pages by (source, type).
func (t *tx) Incoming(ctx context.Context, to string, types []string, after dependency.Link, limit int) ([]dependency.Source, error) {
	query, args := incoming, []any{to, after.From, after.Type}
	if types != nil {
		query, args = query+"AND l.type IN (SELECT value FROM json_each(?)) ", append(args, list(types))
	}
	return rows(ctx, t, func(s *dependency.Source) []any {
		return []any{&s.From, &s.Type, &s.To, &s.Kind, &s.Owner, &s.Status, &s.Scheduled}
	}, query+"ORDER BY l.source, l.type LIMIT ?", append(args, limit)...)
}

// dependants ranks and counts the distinct sources of each target, all from links_by_target.
const dependants = `WITH ranked AS (
	SELECT l.target, l.source, row_number() OVER each_target AS rank, count(*) OVER (PARTITION BY l.target) AS total
	FROM (
		SELECT DISTINCT target, source FROM links
		WHERE target IN (SELECT value FROM json_each(?1)) AND type IN (SELECT value FROM json_each(?2)) AND hidden = ''
	) l CROSS JOIN nodes n ON n.id = l.source LEFT JOIN deletions d ON d.id = n.deletion
	WHERE n.status = 'live' OR n.status = 'deleting' AND d.status IS 'scheduled'
	WINDOW each_target AS (PARTITION BY l.target ORDER BY l.source)
) SELECT target, source, total FROM ranked WHERE rank <= max(?3, 1) ORDER BY target, source`

// Dependants counts and names who depends on each target.
func (t *tx) Dependants(ctx context.Context, targets, types []string, limit int) (map[string]dependency.Dependants, error) {
	type row struct {
		target, source string
		total          int
	}
	found, err := rows(ctx, t, func(r *row) []any { return []any{&r.target, &r.source, &r.total} }, dependants, list(targets), list(types), limit)
	byTarget := map[string]dependency.Dependants{}
	for _, r := range found {
		d := byTarget[r.target]
		d.Total = r.total
		if len(d.First) < limit {
			d.First = append(d.First, r.source)
		}
		byTarget[r.target] = d
	}
	return byTarget, err
}
