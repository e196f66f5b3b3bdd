package neo4j

import (
	"context"
	"fmt"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Incoming pages through visible links to one asset. What else is told of a source is read after the page is cut.
//
// The sources are found through the target, so no index can compare and order their ids (see ListNodes). What replace
// gives is compared in one order, whether it comes from a property or from a parameter; it changes nothing, as no id has
// a control character.
func (t *tx) Incoming(ctx context.Context, to string, types []string, after dependency.Link, max int) ([]dependency.Source, error) {
	types = t.names.known(types)
	if len(types) == 0 {
		return nil, nil
	}
	pattern, condition := t.names.pattern(types)
	records, err := t.read(ctx, "read incoming links", fmt.Sprintf(`
		MATCH (t:<asset> {<id>: $to}) USING INDEX SEEK t:<asset>(<id>)
		MATCH %s WHERE %s AND r.hidden IS NULL
		WITH DISTINCT s, replace(s.<id>, '\n', '') AS id, type(r) AS type, replace($from, '\n', '') AS from
		WHERE id > from OR (id = from AND type > $type)
		WITH s, id, type ORDER BY id, type LIMIT $limit
		OPTIONAL MATCH (d:Deletion {id: s.deletion}) USING INDEX SEEK d:Deletion(id)
		RETURN id, type, s.<kind>, s.<owner>, `+statusOfSource+`, d.status
		ORDER BY id, type`, pattern, condition),
		params{"to": to, "from": after.From, "type": after.Type, "limit": orAll(max), "reversed": t.names.reversed()})
	if err != nil {
		return nil, err
	}
	sources := make([]dependency.Source, len(records))
	for i, r := range records {
		status := dependency.Status(word(r, 4))
		sources[i] = dependency.Source{
			Link: dependency.Link{From: word(r, 0), Type: word(r, 1), To: to}, Kind: word(r, 2), Owner: word(r, 3),
			Status: status, Scheduled: status == dependency.Deleting && dependency.Status(word(r, 5)) == dependency.Scheduled,
		}
	}
	return sources, nil
}

// HiddenLinks gives the links to any of the targets that a deletion hides.
func (t *tx) HiddenLinks(ctx context.Context, targets []string, deletion string) ([]dependency.Link, error) {
	types := t.names.known(nil)
	if len(targets) == 0 || len(types) == 0 {
		return nil, nil
	}
	pattern, condition := t.names.pattern(types)
	records, err := t.read(ctx, "find hidden links", fmt.Sprintf(`
		UNWIND $targets AS id
		MATCH (t:<asset> {<id>: id}) USING INDEX SEEK t:<asset>(<id>)
		MATCH %s WHERE %s AND r.hidden = $deletion
		RETURN DISTINCT s.<id>, type(r), id`, pattern, condition),
		params{"targets": inOrder(targets), "deletion": deletion, "reversed": t.names.reversed()})
	if err != nil {
		return nil, err
	}
	found := make([]dependency.Link, len(records))
	for i, r := range records {
		found[i] = dependency.Link{From: word(r, 0), Type: word(r, 1), To: word(r, 2), Hidden: deletion}
	}
	return found, nil
}
