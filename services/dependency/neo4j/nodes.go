package neo4j

import (
	"context"
	"fmt"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Nodes reads nodes by id.
func (t *tx) Nodes(ctx context.Context, ids []string) (map[string]dependency.Node, error) {
	found := map[string]dependency.Node{}
	if len(ids) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read nodes", "UNWIND $ids AS id MATCH (n:<asset> {<id>: id}) RETURN n", params{"ids": inOrder(ids)})
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		n, err := t.names.decodeNode(node(r, 0))
		if err != nil {
			return nil, err
		}
		found[n.ID] = n
	}
	return found, nil
}

// SaveNodes writes nodes, and leaves alone properties of adopted nodes that are not ours.
func (t *tx) SaveNodes(ctx context.Context, nodes []dependency.Node) error {
	rows := make([]params, len(nodes))
	for i, n := range nodes {
		properties, err := t.names.encodeNode(n)
		if err != nil {
			return err
		}
		rows[i] = params{"id": n.ID, "properties": properties}
	}
	return t.writeRows(ctx, "save nodes", "UNWIND $rows AS row MERGE (n:<asset> {<id>: row.id}) SET n += row.properties", rows)
}

// ListNodes pages in the order of ids. Each filter has a text, so that each has a plan that fits.
//
// The server compares strings in two orders: by code points in an index and where it sorts properties, by UTF-16 units
// where it compares a property with a parameter. So the id must be compared and ordered by one index alone, which the
// hint and the order make sure of; else pages would skip and repeat ids with supplementary characters.
func (t *tx) ListNodes(ctx context.Context, f dependency.NodeFilter) ([]dependency.Node, error) {
	index, order := "<id>", "n.<id>"
	where := []string{"n.<id> > $after"}
	p := params{"after": f.After}
	if f.Kind != "" {
		where, p["kind"] = append(where, "n.<kind> = $kind"), f.Kind
		index, order = "<kind>, <id>", "n.<kind>, n.<id>"
	}
	if f.Owner != "" {
		where, p["owner"] = append(where, "n.<owner> = $owner"), f.Owner
		index, order = "<owner>, <id>", "n.<owner>, n.<id>"
	}
	if len(f.Statuses) > 0 {
		where, p["statuses"] = append(where, "CASE WHEN n.generation IS NULL THEN 'live' ELSE n.status END IN $statuses"), words(f.Statuses)
	}
	records, err := t.read(ctx, "list nodes", fmt.Sprintf("MATCH (n:<asset>) USING INDEX n:<asset>(%s) WHERE %s RETURN n ORDER BY %s%s",
		index, strings.Join(where, " AND "), order, limit(p, f.Limit)), p)
	if err != nil {
		return nil, err
	}
	return decodeAll(records, t.names.decodeNode)
}

// limit gives the clause for a limit and sets its parameter; 0 is none.
func limit(p params, n int) string {
	if n == 0 {
		return ""
	}
	p["limit"] = n
	return " LIMIT $limit"
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
