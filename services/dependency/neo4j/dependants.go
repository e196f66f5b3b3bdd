package neo4j

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// statusOfSource is the status of the node s; one that we have not written yet is live.
const statusOfSource = "CASE WHEN s.generation IS NULL THEN 'live' ELSE s.status END"

// counting finds, for the target t, the sources s that count: with a visible link r of one of the types, and live or
// scheduled. It is empty where the policy has none of the types.
func (n names) counting(types []string) string {
	if types = n.known(types); len(types) == 0 {
		return ""
	}
	pattern, condition := n.pattern(types)
	return fmt.Sprintf(`MATCH %s
		WHERE %s AND r.hidden IS NULL AND (s.generation IS NULL OR s.status = 'live'
			OR (s.status = 'deleting' AND EXISTS { MATCH (d:Deletion {id: s.deletion}) USING INDEX SEEK d:Deletion(id) WHERE d.status = 'scheduled' }))`, pattern, condition)
}

// Sources gives the links to any of the targets from sources that count.
func (t *tx) Sources(ctx context.Context, targets, types []string, limit int) ([]dependency.Source, error) {
	if len(targets) == 0 || len(types) == 0 {
		return nil, nil
	}
	counting := t.names.counting(types)
	if counting == "" {
		return nil, nil
	}
	records, err := t.read(ctx, "find sources",
		"UNWIND $targets AS id MATCH (t:<asset> {<id>: id}) USING INDEX SEEK t:<asset>(<id>) "+counting+`
		RETURN DISTINCT s.<id>, type(r), id, s.<kind>, s.<owner>, `+statusOfSource+` LIMIT $limit`,
		params{"targets": inOrder(targets), "limit": limit, "reversed": t.names.reversed()})
	if err != nil {
		return nil, err
	}
	found := make([]dependency.Source, len(records))
	for i, r := range records {
		status := dependency.Status(word(r, 5))
		found[i] = dependency.Source{
			Link: dependency.Link{From: word(r, 0), Type: word(r, 1), To: word(r, 2)}, Kind: word(r, 3), Owner: word(r, 4),
			Status: status, Scheduled: status == dependency.Deleting, // or it would not count
		}
	}
	return found, nil
}

// Dependants counts the sources that count; where there are any, a second statement names the first ones. Neither
// gathers the ids of all sources of a dense target.
func (t *tx) Dependants(ctx context.Context, targets, types []string, limit int) (map[string]dependency.Dependants, error) {
	found := map[string]dependency.Dependants{}
	if len(targets) == 0 || len(types) == 0 {
		return found, nil
	}
	counting := t.names.counting(types)
	if counting == "" {
		return found, nil
	}
	records, err := t.read(ctx, "count dependants",
		"UNWIND $targets AS id MATCH (t:<asset> {<id>: id}) USING INDEX SEEK t:<asset>(<id>) "+counting+" RETURN id, count(DISTINCT s)",
		params{"targets": inOrder(targets), "reversed": t.names.reversed()})
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		found[word(r, 0)] = dependency.Dependants{Total: int(number(r, 1))}
	}
	return found, t.nameDependants(ctx, found, counting, limit)
}

// nameDependants fills in the first sources.
func (t *tx) nameDependants(ctx context.Context, found map[string]dependency.Dependants, counting string, limit int) error {
	if len(found) == 0 || limit == 0 {
		return nil
	}
	records, err := t.read(ctx, "name dependants", `
		UNWIND $targets AS id MATCH (t:<asset> {<id>: id}) USING INDEX SEEK t:<asset>(<id>)
		RETURN id, COLLECT { `+counting+` RETURN DISTINCT s.<id> AS source ORDER BY source LIMIT $limit }`,
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
