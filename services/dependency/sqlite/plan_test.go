package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// TestPlans holds what runs often, or over what may be large, to an index, and pages to an order that needs no sorting.
func TestPlans(t *testing.T) {
	g := open(t, filepath.Join(t.TempDir(), "graph.db"))
	t.Cleanup(func() { closeGraph(t, g) })
	now, yes, flag := time.Now(), true, dependency.Command{ID: "a", Since: time.Now()}
	ids, keys := list([]string{"a", "b"}), []dependency.ErasureKey{{Deletion: "d", Asset: "a"}}
	sourcesOf := []string{"SEARCH l USING COVERING INDEX links_by_target (target=?)", "SEARCH n USING INDEX sqlite_autoindex_nodes_1 (id=?)",
		"SEARCH d USING INDEX sqlite_autoindex_deletions_1 (id=?) LEFT-JOIN"}
	for _, c := range []struct {
		name  string
		query query
		want  []string
	}{
		{"nodes by id", nodePage(dependency.NodeFilter{}, ""), []string{"SEARCH nodes USING INDEX sqlite_autoindex_nodes_1 (id>?)"}},
		{"nodes of a kind", nodePage(dependency.NodeFilter{Kind: "k"}, ""), []string{"SEARCH nodes USING INDEX nodes_by_kind (kind=? AND id>?)"}},
		{"nodes of an owner", nodePage(dependency.NodeFilter{Owner: "o"}, ""), []string{"SEARCH nodes USING INDEX nodes_by_owner (owner=? AND id>?)"}},
		{"nodes of a status", nodePage(dependency.NodeFilter{}, "live"), []string{"SEARCH nodes USING INDEX nodes_by_status (status=? AND id>?)"}},
		{"outgoing links", fixed(links.finding()+outgoing, ids), []string{"SEARCH links USING PRIMARY KEY (source=?)"}},
		{"incoming links", fixed(incoming+"ORDER BY l.source, l.type LIMIT ?", "t", "a", "b", 1),
			append([]string{"SEARCH l USING COVERING INDEX links_by_target (target=? AND (source,type)>(?,?))"}, sourcesOf[1:]...)},
		{"unlinking sources", fixed(links.finding()+unlinkFrom, ids, 1), []string{"SEARCH links USING PRIMARY KEY (source=?)"}},
		{"unlinking targets", fixed(links.finding()+unlinkTo, ids, 1), []string{"SEARCH links USING COVERING INDEX links_by_target (target=?)"}},
		{"hidden links", fixed(links.finding()+hiddenLinks, ids, "d"), []string{"SEARCH links USING COVERING INDEX links_by_target (target=?)"}},
		{"counting dependants", fixed(countDependants, ids, ids), sourcesOf},
		{"sources that count", fixed(sources, ids, ids, 1), sourcesOf},
		{"a look ahead", fixed(ahead, ids, ids, ids, 1), []string{
			"SCAN a", "SEARCH l USING COVERING INDEX links_by_target (target=?)", "SEARCH n USING COVERING INDEX nodes_by_status (status=? AND id=?)",
			"SCAN a", "SEARCH l USING PRIMARY KEY (source=? AND type=?)", "SEARCH o USING COVERING INDEX links_by_target (target=?)",
			"SEARCH n USING COVERING INDEX nodes_by_status (status=? AND id=?)", "SCAN ahead"}}, // a and ahead are what was found so far
		{"naming dependants", fixed(firstDependants, ids, ids, 1), sourcesOf},
		{"deletions", deletionPage(dependency.DeletionFilter{}, ""), []string{"SEARCH deletions USING INDEX sqlite_autoindex_deletions_1 (id<?)"}},
		{"deletions of an owner", deletionPage(dependency.DeletionFilter{Owner: "o"}, ""), []string{"SEARCH deletions USING INDEX deletions_by_owner (owner=? AND id<?)"}},
		{"deletions of a batch", deletionPage(dependency.DeletionFilter{Batch: "b"}, ""), []string{"SEARCH deletions USING INDEX deletions_by_batch (batch=? AND id<?)"}},
		{"deletions of a status", deletionPage(dependency.DeletionFilter{}, "deleting"), []string{"SEARCH deletions USING INDEX deletions_by_status (status=? AND id<?)"}},
		{"stalled deletions", deletionPage(dependency.DeletionFilter{Stalled: &yes, StalledSince: now}, ""), []string{"SEARCH deletions USING INDEX deletions_by_status (status=? AND id<?)"}},
		{"blocked deletions", deletionPage(dependency.DeletionFilter{Blocked: true}, "deleting"), []string{"SEARCH deletions USING INDEX deletions_by_status (status=? AND id<?)"}},
		{"counting deletions", deletionCount("deleted"), []string{"SEARCH deletions USING COVERING INDEX deletions_by_status (status=?)"}},
		{"counting all deletions", deletionCount(""), []string{"SCAN deletions USING COVERING INDEX sqlite_autoindex_deletions_1"}},
		{"overdue deletions", fixed(deletions.finding()+overdue, 1, 0, 1), []string{"SEARCH deletions USING INDEX deletions_incomplete (due_at<?)"}},
		{"the oldest that is deleting", fixed(oldestDue), []string{"SEARCH deletions USING COVERING INDEX deletions_incomplete"}},
		{"counting stalled ones", fixed(countStalled, 1), []string{"SEARCH deletions USING COVERING INDEX deletions_incomplete (due_at<?)"}},
		{"counting blocked ones", fixed(countBlocked), []string{"SEARCH deletions USING INDEX deletions_blocked (status=?)", "USE TEMP B-TREE FOR GROUP BY"}},
		{"erasures by key", fixed(erasures.finding()+"WHERE "+ofErasures, list(pairs(keys))), []string{"SEARCH erasures USING INDEX sqlite_autoindex_erasures_1 (deletion=? AND asset=?)"}},
		{"erasures of a deletion", fixed(erasures.finding()+listErasures, "d", 0, 1), []string{"SEARCH erasures USING INDEX erasures_by_position (deletion=? AND position>?)"}},
		{"the beginning of deletions", fixed(erasures.finding()+firstErasures, ids, 1), []string{"SEARCH erasures USING INDEX erasures_by_position (deletion=? AND position<?)"}},
		{"R2: due erasures", fixed(erasures.finding()+dueErasures, 0, 1, 1), []string{"SEARCH erasures USING INDEX erasures_by_check (check_at>? AND check_at<?)"}},
		{"R3: due rechecks", fixed(erasures.finding()+dueRechecks, 1, 1), []string{"SEARCH erasures USING INDEX erasures_by_recheck (check_at>? AND check_at<?)"}},
		{"R1: flags to claim", flagPage(dependency.CommandFilter{DueBy: now, FreeAt: now}), []string{"SCAN commands USING INDEX commands_by_since"}},
		{"flags after one", flagPage(dependency.CommandFilter{After: &flag}), []string{"SEARCH commands USING INDEX commands_by_since ((since,id)>(?,?))"}},
		{"flags of erasures", flagPage(dependency.CommandFilter{Erasures: keys}), []string{"SEARCH commands USING INDEX commands_by_erasure (deletion=? AND asset=?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{"flags of deletions", flagPage(dependency.CommandFilter{Deletions: []string{"d"}}), []string{"SEARCH commands USING INDEX commands_by_erasure (deletion=?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{"dropping flags", fixed(dropCommands, ids), []string{"SEARCH commands USING COVERING INDEX commands_by_erasure (deletion=?)"}},
		{"counting flags", fixed(countCommands, 1), []string{"SCAN commands USING COVERING INDEX commands_by_since"}},
		{"open batches", fixed(batches.finding()+openBatches, 1), []string{"SCAN batches USING INDEX batches_open"}},
		{"owners that are erased", fixed(batches.finding()+erasingOwners, ids), []string{"SEARCH batches USING INDEX batches_open (owner=?)"}},
		{"counting a batch", fixed(countBatch, "b"), []string{"SEARCH deletions USING COVERING INDEX deletions_by_batch (batch=?)", "USE TEMP B-TREE FOR GROUP BY"}},
		{"refusals", fixed(refusals.finding()+listRefusals, "b", "a", 1), []string{"SEARCH refusals USING PRIMARY KEY (batch=? AND asset>?)"}},
		{"the trail", fixed(entries.finding()+listTrail, "a", 0, 1), []string{"SEARCH entries USING INDEX sqlite_autoindex_entries_2 (asset=? AND sequence>?)"}},
		{"entries of all assets", fixed(entries.finding()+listEntries, "a", 1), []string{"SEARCH entries USING INDEX sqlite_autoindex_entries_1 (id>?)"}},
		{"counting entries", fixed(countEntries, "a", "b", 1), []string{"SEARCH entries USING INDEX sqlite_autoindex_entries_1 (id>? AND id<?)", "USE TEMP B-TREE FOR GROUP BY"}},
		{"the ends of trails", fixed(lastSequences, ids), []string{"SEARCH entries USING COVERING INDEX sqlite_autoindex_entries_2 (asset=?)"}},
		{"removing nodes", fixed(removeNodes, ids), []string{"SEARCH nodes USING COVERING INDEX sqlite_autoindex_nodes_1 (id=?)",
			"SEARCH links USING PRIMARY KEY (source=?)", "SEARCH links USING COVERING INDEX links_by_target (target=?)",
			"SEARCH links USING COVERING INDEX links_by_target (target=?)", "SEARCH links USING PRIMARY KEY (source=?)"}}, // the last two hold the links to their ends
		{"unsent entries", fixed(entries.finding()+listUnsent, 0, 1), []string{"SEARCH entries USING INDEX entries_unsent (time<?)"}},
		{"marking entries again", fixed(markUnsent, "", 0, 1),
			[]string{"SEARCH entries USING COVERING INDEX sqlite_autoindex_entries_1 (id=?)", "SEARCH entries USING INDEX sqlite_autoindex_entries_1 (id>?)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.query.plan(t, g)); diff != "" {
				t.Errorf("not as wanted (-want +got):\n%s", diff)
			}
		})
	}
}

// query is a query with its arguments, built as the adapter builds it.
type query struct {
	text string
	args []any
}

func fixed(text string, args ...any) query { return query{text, args} }

func nodePage(f dependency.NodeFilter, status dependency.Status) query {
	f.After, f.Limit = "a", 100
	rest, args := listNodes(f, status)
	return query{nodes.finding() + rest, args}
}

func deletionPage(f dependency.DeletionFilter, status dependency.Status) query {
	f.After, f.Limit = "a", 100
	rest, args := listDeletions(f, status)
	return query{deletions.finding() + rest, args}
}

func deletionCount(status dependency.Status) query {
	count, args := countDeletions(dependency.DeletionFilter{Limit: 100}, status)
	return query{count, args}
}

func flagPage(f dependency.CommandFilter) query {
	f.Limit = 100
	rest, args := listCommands(f)
	return query{commands.finding() + rest, args}
}

// plan gives the steps that touch tables of ours or sort, without those over arguments and subqueries.
func (q query) plan(t *testing.T, g *Graph) (steps []string) {
	t.Helper()
	found, err := g.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+q.text, q.args...)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var id, parent, unused int
		var step string
		if err := found.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(step, " INDEX ") && !strings.Contains(step, "VIRTUAL TABLE") || strings.Contains(step, "PRIMARY KEY") ||
			strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "json_each") && !strings.Contains(step, "subquery") {
			steps = append(steps, step)
		}
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}
