package sqlite

import (
	"cmp"
	"context"

	"github.com/tombstone-project/tombstone/services/dependency"
)

var nodes = table[dependency.Node]{
	name: "nodes", key: 1,
	columns: []string{"id", "kind", "owner", "status", "deletion", "generation", "bytes", "created_at", "updated_at", "requested_at", "due_at",
		"sequence", "granted_until", "hold", "lease", "parts", "attributes"},
	bind: func(n *dependency.Node) []any {
		return []any{&n.ID, &n.Kind, &n.Owner, &n.Status, &n.Deletion, &n.Generation, &n.Bytes, micros{&n.CreatedAt}, micros{&n.UpdatedAt},
			micros{&n.RequestedAt}, micros{&n.DueAt}, &n.Sequence, micros{&n.GrantedUntil}, document{&n.Hold}, document{&n.Lease}, document{&n.Parts}, document{&n.Attributes}}
	},
}

// Nodes reads nodes by their ids.
func (t *tx) Nodes(ctx context.Context, ids []string) (map[string]dependency.Node, error) {
	found, err := nodes.find(ctx, t, "WHERE id IN (SELECT value FROM json_each(?))", list(ids))
	byID := make(map[string]dependency.Node, len(found))
	for _, n := range found {
		byID[n.ID] = n
	}
	return byID, err
}

// SaveNodes writes whole records.
func (t *tx) SaveNodes(ctx context.Context, changed []dependency.Node) error {
	return nodes.save(ctx, t, changed)
}

const removeNodes = `DELETE FROM nodes WHERE id IN (SELECT value FROM json_each(?))
	AND NOT EXISTS (SELECT 1 FROM links WHERE source = nodes.id) AND NOT EXISTS (SELECT 1 FROM links WHERE target = nodes.id)`

// RemoveNodes removes nodes without links.
func (t *tx) RemoveNodes(ctx context.Context, ids []string) error {
	_, err := t.change(ctx, removeNodes, list(ids))
	return err
}

// ListNodes pages by id.
func (t *tx) ListNodes(ctx context.Context, f dependency.NodeFilter) ([]dependency.Node, error) {
	byID := func(a, b dependency.Node) int { return cmp.Compare(a.ID, b.ID) }
	return byStatus(f.Statuses, f.Limit, byID, func(status dependency.Status) ([]dependency.Node, error) {
		rest, args := listNodes(f, status)
		return nodes.find(ctx, t, rest, args...)
	})
}

func listNodes(f dependency.NodeFilter, status dependency.Status) (rest string, args []any) {
	var w where
	w.add(f.After != "", "id > ?", f.After)
	w.add(f.Kind != "", "kind = ?", f.Kind)
	w.add(f.Owner != "", "owner = ?", f.Owner)
	w.add(status != "", "status = ?", status)
	return w.query("id", f.Limit)
}
