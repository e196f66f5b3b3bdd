package neo4j

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Outgoing reads the links of the sources, hidden ones too. An adopted graph may have several relationships for one link;
// it is hidden when all are.
func (t *tx) Outgoing(ctx context.Context, ids []string) ([]dependency.Link, error) {
	types := t.names.known(nil)
	if len(ids) == 0 || len(types) == 0 {
		return nil, nil
	}
	pattern, condition := t.names.pattern(types)
	records, err := t.read(ctx, "read links", fmt.Sprintf(`
		UNWIND $ids AS id
		MATCH (s:<asset> {<id>: id}) USING INDEX SEEK s:<asset>(<id>)
		MATCH %s WHERE %s
		RETURN id, type(r), t.<id>, CASE WHEN count(r.hidden) = count(*) THEN min(r.hidden) END`, pattern, condition),
		params{"ids": inOrder(ids), "reversed": t.names.reversed()})
	if err != nil {
		return nil, err
	}
	links := make([]dependency.Link, len(records))
	for i, r := range records {
		links[i] = dependency.Link{From: word(r, 0), Type: word(r, 1), To: word(r, 2), Hidden: word(r, 3)}
	}
	return links, nil
}

// SaveLinks creates links or sets whether they are hidden: one statement a link type, for those that saveDense leaves.
func (t *tx) SaveLinks(ctx context.Context, links []dependency.Link) error {
	links, err := t.saveDense(ctx, links)
	if err != nil {
		return err
	}
	return t.byType(ctx, "save links", `
		UNWIND $rows AS row
		MATCH (s:<asset> {<id>: row.from}) USING INDEX SEEK s:<asset>(<id>)
		MATCH (t:<asset> {<id>: row.to}) USING INDEX SEEK t:<asset>(<id>)
		MERGE (s)%s(t) SET r.hidden = row.hidden`, links)
}

// RemoveLinks removes links: one statement a link type. Both ends are found first, so that the sparser one is searched.
func (t *tx) RemoveLinks(ctx context.Context, links []dependency.Link) error {
	return t.byType(ctx, "remove links", `
		UNWIND $rows AS row
		MATCH (s:<asset> {<id>: row.from}) USING INDEX SEEK s:<asset>(<id>)
		MATCH (t:<asset> {<id>: row.to}) USING INDEX SEEK t:<asset>(<id>)
		WITH DISTINCT s, t
		MATCH (s)%s(t)
		DELETE r`, links)
}

// byType runs a statement with the links of each type as its rows. A type that the policy does not have is refused: the
// caller would take it for done.
func (t *tx) byType(ctx context.Context, what, statement string, links []dependency.Link) error {
	rows := map[string][]params{}
	for _, l := range links {
		rows[l.Type] = append(rows[l.Type], params{"from": l.From, "to": l.To, "hidden": text(l.Hidden)})
	}
	for _, linkType := range slices.Sorted(maps.Keys(rows)) {
		if len(t.names.known([]string{linkType})) == 0 {
			return fmt.Errorf("%s: the policy has no link type %q", what, linkType)
		}
		if err := t.writeRows(ctx, what, fmt.Sprintf(statement, t.names.arrow("r", linkType)), rows[linkType]); err != nil {
			return err
		}
	}
	return nil
}

// Unlink removes links of the assets in either direction.
func (t *tx) Unlink(ctx context.Context, ids []string, limit int) (int, error) {
	types := t.names.known(nil)
	if len(ids) == 0 || len(types) == 0 {
		return 0, nil
	}
	records, err := t.read(ctx, "unlink", fmt.Sprintf(`
		UNWIND $ids AS id
		MATCH (n:<asset> {<id>: id}) USING INDEX SEEK n:<asset>(<id>)
		MATCH (n)-[r:%s]-(:<asset>)
		WITH DISTINCT r LIMIT $limit
		DELETE r
		RETURN count(*)`, alternatives(types)), params{"ids": inOrder(ids), "limit": limit})
	if err != nil {
		return 0, err
	}
	return int(number(records[0], 0)), nil
}
