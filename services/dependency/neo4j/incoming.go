package neo4j

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// ofDeletion joins the deletion that made a source a tombstone.
const ofDeletion = "(d:Deletion {id: s.deletion})"

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
		MATCH (t:<asset> {<id>: $to})
		MATCH %s WHERE %s AND r.hidden IS NULL
		WITH DISTINCT s, replace(s.<id>, '\n', '') AS id, type(r) AS type, replace($from, '\n', '') AS from
		WHERE id > from OR (id = from AND type > $type)
		WITH s, id, type ORDER BY id, type LIMIT $limit
		OPTIONAL MATCH `+ofDeletion+`
		RETURN id, type, s.<kind>, s.<owner>, CASE WHEN s.generation IS NULL THEN 'live' ELSE s.status END, d.status
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

// Sources gives the links to any of the targets from sources that are live or may come back.
func (t *tx) Sources(ctx context.Context, targets, types []string, limit int) ([]dependency.Source, error) {
	if types = t.names.known(types); len(targets) == 0 || len(types) == 0 {
		return nil, nil
	}
	pattern, condition := t.names.pattern(types)
	records, err := t.read(ctx, "find sources", fmt.Sprintf(`
		UNWIND $targets AS target
		MATCH (t:<asset> {<id>: target})
		MATCH %s WHERE %s AND r.hidden IS NULL
		OPTIONAL MATCH `+ofDeletion+`
		WITH s, r, target, d, CASE WHEN s.generation IS NULL THEN 'live' ELSE s.status END AS status
		WHERE status = 'live' OR (status = 'deleting' AND d.status = 'scheduled')
		RETURN s.<id>, type(r), target, s.<kind>, s.<owner>, status LIMIT $limit`, pattern, condition),
		params{"targets": inOrder(targets), "limit": limit, "reversed": t.names.reversed()})
	if err != nil {
		return nil, err
	}
	found := make([]dependency.Source, len(records))
	for i, r := range records {
		status := dependency.Status(word(r, 5))
		found[i] = dependency.Source{Link: dependency.Link{From: word(r, 0), Type: word(r, 1), To: word(r, 2)}, Kind: word(r, 3), Owner: word(r, 4),
			Status: status, Scheduled: status == dependency.Deleting}
	}
	return found, nil
}

// HiddenLinks gives the links to any of the targets that a deletion hides.
func (t *tx) HiddenLinks(ctx context.Context, targets []string, deletion string) ([]dependency.Link, error) {
	types := t.names.known(nil)
	if len(targets) == 0 || len(types) == 0 {
		return nil, nil
	}
	pattern, condition := t.names.pattern(types)
	records, err := t.read(ctx, "find hidden links", fmt.Sprintf(`
		UNWIND $targets AS target
		MATCH (t:<asset> {<id>: target})
		MATCH %s WHERE %s AND r.hidden = $deletion
		RETURN s.<id>, type(r), target`, pattern, condition),
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

// Dependants counts the sources that are live or may come back; where there are any, a second statement names the first
// ones. Neither gathers the ids of all sources of a dense target.
func (t *tx) Dependants(ctx context.Context, targets, types []string, limit int) (map[string]dependency.Dependants, error) {
	found := map[string]dependency.Dependants{}
	if len(targets) == 0 || len(types) == 0 {
		return found, nil
	}
	if types = t.names.known(types); len(types) == 0 {
		return found, nil
	}
	pattern, condition := t.names.pattern(types)
	sources := fmt.Sprintf(`MATCH %s
		WHERE %s AND r.hidden IS NULL AND (s.generation IS NULL OR s.status = 'live'
			OR (s.status = 'deleting' AND EXISTS { MATCH `+ofDeletion+` WHERE d.status = 'scheduled' }))`, pattern, condition)
	records, err := t.read(ctx, "count dependants",
		"UNWIND $targets AS id MATCH (t:<asset> {<id>: id}) "+sources+" RETURN id, count(DISTINCT s)",
		params{"targets": inOrder(targets), "reversed": t.names.reversed()})
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		found[word(r, 0)] = dependency.Dependants{Total: int(number(r, 1))}
	}
	return found, t.nameDependants(ctx, found, sources, limit)
}

// nameDependants fills in the first sources.
func (t *tx) nameDependants(ctx context.Context, found map[string]dependency.Dependants, sources string, limit int) error {
	if len(found) == 0 || limit == 0 {
		return nil
	}
	records, err := t.read(ctx, "name dependants", `
		UNWIND $targets AS id MATCH (t:<asset> {<id>: id})
		RETURN id, COLLECT { `+sources+` RETURN DISTINCT s.<id> AS source ORDER BY source LIMIT $limit }`,
		params{"targets": slices.Sorted(maps.Keys(found)), "limit": limit, "reversed": t.names.reversed()})
	if err != nil {
		return err
	}
	for _, r := range records {
		d := found[word(r, 0)]
		d.First = listed(r.Values[1])
		found[word(r, 0)] = d
	}
	return nil
}
