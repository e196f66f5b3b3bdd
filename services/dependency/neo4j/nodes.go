package neo4j

import (
	"context"
	"fmt"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Nodes reads nodes by id, and remembers which do not exist.
func (t *tx) Nodes(ctx context.Context, ids []string) (map[string]dependency.Node, error) {
	found := map[string]dependency.Node{}
	if len(ids) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read nodes", "UNWIND $ids AS id MATCH (n:<asset> {<id>: id}) USING INDEX SEEK n:<asset>(<id>) RETURN n", params{"ids": inOrder(ids)})
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		t.absent[record{"node", id}] = true
	}
	for _, r := range records {
		n, err := t.names.decodeNode(node(r, 0))
		if err != nil {
			return nil, err
		}
		found[n.ID] = n
		delete(t.absent, record{"node", n.ID})
	}
	return found, nil
}

// SaveNodes writes nodes, and leaves alone properties of adopted nodes that are not ours. One that this transaction has
// seen not to exist is created: where another transaction was faster, the unique id makes this one run again, while a
// MERGE would take the other's node for its own.
func (t *tx) SaveNodes(ctx context.Context, nodes []dependency.Node) error {
	var fresh, rows []params
	for _, n := range nodes {
		properties, err := t.names.encodeNode(n)
		if err != nil {
			return err
		}
		row := params{"id": n.ID, "properties": properties}
		if r := (record{"node", n.ID}); t.absent[r] {
			delete(t.absent, r)
			fresh = append(fresh, row)
		} else {
			rows = append(rows, row)
		}
	}
	if err := t.writeRows(ctx, "create nodes", "UNWIND $rows AS row CREATE (n:<asset> {<id>: row.id}) SET n += row.properties", fresh); err != nil {
		return err
	}
	return t.writeRows(ctx, "save nodes", "UNWIND $rows AS row MERGE (n:<asset> {<id>: row.id}) SET n += row.properties", rows)
}

// RemoveNodes removes nodes that no relationship holds, ours or another's.
func (t *tx) RemoveNodes(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return t.write(ctx, "remove nodes", "UNWIND $ids AS id MATCH (n:<asset> {<id>: id}) USING INDEX SEEK n:<asset>(<id>) WHERE NOT EXISTS { (n)--() } DELETE n", params{"ids": inOrder(ids)})
}

// ListNodes pages in the order of ids.
//
// The server compares strings in two orders: by code points in an index and where it sorts properties, by UTF-16 units
// where it compares a property with a parameter. So the id must be compared and ordered by one index alone, which the
// hint and the order make sure of; else pages would skip and repeat ids with supplementary characters.
func (t *tx) ListNodes(ctx context.Context, f dependency.NodeFilter) ([]dependency.Node, error) {
	held, index, order := "", "<id>", "n.<id>"
	switch {
	case f.Owner != "":
		held, index, order = " AND n.<owner> = $owner", "<owner>, <id>", "n.<owner>, n.<id>"
	case f.Kind != "":
		held, index, order = " AND n.<kind> = $kind", "<kind>, <id>", "n.<kind>, n.<id>"
	}
	records, err := t.read(ctx, "list nodes", `
		MATCH (n:<asset>) USING INDEX SEEK n:<asset>(`+index+`)
		WHERE n.<id> > $after`+held+` AND ($kind = '' OR n.<kind> = $kind)
			AND (size($statuses) = 0 OR CASE WHEN n.generation IS NULL THEN 'live' ELSE n.status END IN $statuses)
		RETURN n ORDER BY `+order+` LIMIT $limit`,
		params{"after": f.After, "owner": f.Owner, "kind": f.Kind, "statuses": words(f.Statuses), "limit": orAll(f.Limit)})
	if err != nil {
		return nil, err
	}
	return decodeAll(records, t.names.decodeNode)
}

// words gives statuses as the driver takes them.
func words(statuses []dependency.Status) []string {
	list := make([]string, len(statuses))
	for i, s := range statuses {
		list[i] = string(s)
	}
	return list
}

// decodeAll decodes the node in the first column of each record.
func decodeAll[R any](records []*neo4j.Record, decode func(properties) (R, error)) ([]R, error) {
	list := make([]R, len(records))
	for i, r := range records {
		var err error
		if list[i], err = decode(node(r, 0)); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
	}
	return list, nil
}
