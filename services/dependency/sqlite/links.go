package sqlite

import (
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var links = table[dependency.Link]{
	name: "links", key: 3,
	columns: []string{"source", "type", "target", "hidden"},
	bind:    func(l *dependency.Link) []any { return []any{&l.From, &l.Type, &l.To, &l.Hidden} },
}

const outgoing = "WHERE source IN (SELECT value FROM json_each(?)) "

// Outgoing gives the links of the sources, hidden ones too.
func (t *tx) Outgoing(ctx context.Context, ids []string) ([]dependency.Link, error) {
	return links.find(ctx, t, outgoing, list(ids))
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

const (
	unlinkFrom = outgoing + "LIMIT ?"
	unlinkTo   = "WHERE target IN (SELECT value FROM json_each(?)) LIMIT ?"
)

// Unlink removes links in either direction, first those that go out, so that a link between two of the assets is gone
// before its other end is looked at.
func (t *tx) Unlink(ctx context.Context, ids []string, limit int) (int, error) {
	removed := 0
	for _, rest := range []string{unlinkFrom, unlinkTo} {
		found, err := links.find(ctx, t, rest, list(ids), limit-removed)
		if err != nil {
			return removed, err
		}
		if err := t.RemoveLinks(ctx, found); err != nil {
			return removed, err
		}
		removed += len(found)
	}
	return removed, nil
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

// sources walks along links_by_target and keeps the sources that count.
const sources = `SELECT l.source, l.type, l.target, n.kind, n.owner, n.status, n.status = 'deleting'
FROM links l CROSS JOIN nodes n ON n.id = l.source LEFT JOIN deletions d ON d.id = n.deletion
WHERE l.target IN (SELECT value FROM json_each(?)) AND l.type IN (SELECT value FROM json_each(?)) AND l.hidden = ''
	AND (n.status = 'live' OR n.status = 'deleting' AND d.status IS 'scheduled')
LIMIT ?`

// Sources gives the links to any of the targets from sources that count.
func (t *tx) Sources(ctx context.Context, targets, types []string, limit int) ([]dependency.Source, error) {
	return rows(ctx, t, func(s *dependency.Source) []any {
		return []any{&s.From, &s.Type, &s.To, &s.Kind, &s.Owner, &s.Status, &s.Scheduled}
	}, sources, list(targets), list(types), limit)
}

// ahead walks from level to level, along links_by_target to sources and along the key of links to targets.
const ahead = `WITH RECURSIVE ahead (id) AS (
	SELECT value FROM json_each(?1)
	UNION
	SELECT l.source FROM ahead a CROSS JOIN links l ON l.target = a.id CROSS JOIN nodes n ON n.id = l.source
	WHERE l.type IN (SELECT value FROM json_each(?2)) AND l.hidden = '' AND n.status = 'live'
	UNION
	SELECT l.target FROM ahead a CROSS JOIN links l ON l.source = a.id CROSS JOIN nodes n ON n.id = l.target
	WHERE l.type IN (SELECT value FROM json_each(?3)) AND l.hidden = '' AND n.status = 'live' AND NOT EXISTS (
		SELECT 1 FROM links o WHERE o.target = l.target AND o.source <> l.source AND o.type IN (SELECT value FROM json_each(?3)) AND o.hidden = '')
	LIMIT ?4
)
SELECT id FROM ahead`

// Ahead walks on from the assets.
func (t *tx) Ahead(ctx context.Context, from, up, down []string, limit int) ([]string, error) {
	if len(from) == 0 {
		return nil, nil
	}
	found, err := rows(ctx, t, func(id *string) []any { return []any{id} }, ahead, list(from), list(up), list(down), limit+len(from))
	found = slices.DeleteFunc(found, func(id string) bool { return slices.Contains(from, id) })
	return found[:min(limit, len(found))], err
}

const hiddenLinks = "WHERE target IN (SELECT value FROM json_each(?)) AND hidden = ?"

// HiddenLinks walks along links_by_target.
func (t *tx) HiddenLinks(ctx context.Context, targets []string, deletion string) ([]dependency.Link, error) {
	return links.find(ctx, t, hiddenLinks, list(targets), deletion)
}

// counting are the sources that count, each once for a target, in order of (target, source): a walk along
// links_by_target.
const counting = `SELECT DISTINCT l.target, l.source
FROM links l CROSS JOIN nodes n ON n.id = l.source LEFT JOIN deletions d ON d.id = n.deletion
WHERE l.target IN (SELECT value FROM json_each(?1)) AND l.type IN (SELECT value FROM json_each(?2)) AND l.hidden = ''
	AND (n.status = 'live' OR n.status = 'deleting' AND d.status IS 'scheduled')
ORDER BY l.target, l.source`

const (
	countDependants = "SELECT target, count(*) FROM (" + counting + ") GROUP BY target"
	firstDependants = counting + " LIMIT ?3"
)

// Dependants counts who depends on each target, and names them where there are any.
func (t *tx) Dependants(ctx context.Context, targets, types []string, limit int) (map[string]dependency.Dependants, error) {
	type count struct {
		target string
		total  int
	}
	counts, err := rows(ctx, t, func(c *count) []any { return []any{&c.target, &c.total} }, countDependants, list(targets), list(types))
	if err != nil {
		return nil, err
	}
	found := make(map[string]dependency.Dependants, len(counts))
	for _, c := range counts {
		first, err := rows(ctx, t, func(source *string) []any { return []any{new(string), source} },
			firstDependants, list([]string{c.target}), list(types), limit)
		if err != nil {
			return nil, err
		}
		found[c.target] = dependency.Dependants{First: first, Total: c.total}
	}
	return found, nil
}
