package neo4j

import (
	"context"
	"fmt"
	"strings"
)

// liveNode tells that the node with this name is live; one that we have not written yet is.
func liveNode(name string) string {
	return fmt.Sprintf("(%s.generation IS NULL OR %[1]s.status = 'live')", name)
}

// Ahead goes up to $limit levels in one statement: the list holds the levels so far, and the next begins at the last of them.
// It ends with a level of nothing, or when there is enough.
func (t *tx) Ahead(ctx context.Context, from, up, down []string, limit int) ([]string, error) {
	next := t.names.nextLevel(up, down)
	if len(from) == 0 || next == "" {
		return nil, nil
	}
	records, err := t.read(ctx, "look ahead", `
		WITH reduce(levels = [$from], step IN range(1, $limit) |
			CASE WHEN size(levels[-1]) = 0 OR reduce(n = 0, l IN levels | n + size(l)) > $limit + size($from) THEN levels
			ELSE levels + [COLLECT { `+next+` }] END) AS levels
		UNWIND levels AS level UNWIND level AS id
		RETURN id`, params{"from": inOrder(from), "limit": limit, "reversed": t.names.reversed()})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, id := range from {
		seen[id] = true
	}
	var found []string
	for _, r := range records {
		if id := word(r, 0); !seen[id] && len(found) < limit {
			seen[id] = true
			found = append(found, id)
		}
	}
	return found, nil
}

// nextLevel is the subquery that gives the ids of the level behind the last; empty when nothing leads there. No types lead
// nowhere, nil or empty.
func (n names) nextLevel(up, down []string) string {
	const last = "UNWIND levels[-1] AS at MATCH (%[1]s:<asset> {<id>: at}) USING INDEX SEEK %[1]s:<asset>(<id>) MATCH %[2]s WHERE %[3]s AND r.hidden IS NULL AND %[4]s"
	var ways []string
	if up = n.known(append([]string{}, up...)); len(up) > 0 {
		pattern, condition := n.pattern(up)
		ways = append(ways, fmt.Sprintf(last+" RETURN DISTINCT s.<id> AS id LIMIT $limit", "t", pattern, condition, liveNode("s")))
	}
	if down = n.known(append([]string{}, down...)); len(down) > 0 {
		pattern, condition := n.pattern(down)
		other, others := n.patternOf("o", "q", "t", down)
		ways = append(ways, fmt.Sprintf(last+" AND NOT EXISTS { MATCH %[5]s WHERE o <> s AND %[6]s AND q.hidden IS NULL } RETURN DISTINCT t.<id> AS id LIMIT $limit",
			"s", pattern, condition, liveNode("t"), other, others))
	}
	return strings.Join(ways, " UNION ")
}
