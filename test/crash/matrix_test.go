package crash

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/fault"
)

var update = flag.Bool("update", false, "write docs/crash-matrix.md anew")

const matrixFile = "../../docs/crash-matrix.md"

// matrix is what came of all faults.
type matrix struct {
	scenarios string
	single    *table
	withoutR2 *table
	pairs     *table
}

func newMatrix() *matrix {
	return &matrix{single: newTable(), withoutR2: newTable(), pairs: newTable()}
}

// table sums up runs by the calls and kinds of their faults.
type table struct {
	cells map[string]map[string]*cell // by row and column
	runs  int
}

type cell struct {
	runs   int
	used   map[means]bool
	broken map[string]int
}

func newTable() *table { return &table{cells: map[string]map[string]*cell{}} }

// add counts a run: one fault by its call and kind, two by their kinds.
func (t *table) add(f found) {
	row, column := f.faults[0].label, f.faults[0].kind.String()
	if len(f.faults) == 2 {
		row, column = column, f.faults[1].kind.String()
	}
	if t.cells[row] == nil {
		t.cells[row] = map[string]*cell{}
	}
	c := t.cells[row][column]
	if c == nil {
		c = &cell{used: map[means]bool{}, broken: map[string]int{}}
		t.cells[row][column] = c
	}
	t.runs++
	c.runs++
	for _, m := range f.used {
		c.used[m] = true
	}
	for _, g := range f.broken() {
		c.broken[g]++
	}
}

// String is the number of runs, and by what they went on.
func (c *cell) String() string {
	out := []string{fmt.Sprint(c.runs)}
	for _, m := range []means{asked, r1, redelivery, r2} {
		if c.used[m] {
			out = append(out, string(m))
		}
	}
	for _, g := range slices.Sorted(maps.Keys(c.broken)) {
		out = append(out, fmt.Sprintf("**%s breaks in %d**", g, c.broken[g]))
	}
	return strings.Join(out, ", ")
}

// columns are the kinds of faults in the order of their constants.
func columns() (kinds []string) {
	for k := fault.CrashBefore; k <= fault.Frozen; k++ {
		kinds = append(kinds, k.String())
	}
	return kinds
}

// write writes the rows that are wanted.
func (t *table) write(b *strings.Builder, first string, columns []string, wanted func(row string) bool) {
	fmt.Fprintf(b, "| %s | %s |\n|%s\n", first, strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)+1))
	for _, row := range slices.Sorted(maps.Keys(t.cells)) {
		if !wanted(row) {
			continue
		}
		fmt.Fprintf(b, "| %s |", row)
		for _, column := range columns {
			text := ""
			if c := t.cells[row][column]; c != nil {
				text = c.String()
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// addScenario notes how many calls a scenario has.
func (m *matrix) addScenario(base found, runs []options) {
	ports := 0
	for _, c := range base.calls {
		if c.Port != "tx" {
			ports++
		}
	}
	m.scenarios += fmt.Sprintf("| %s | %d | %d | %d |\n", base.scenario.name, ports, len(base.calls)-ports, len(runs))
}

// compare holds the file to what was found, or writes it.
func (m *matrix) compare(t *testing.T) {
	t.Helper()
	old, err := os.ReadFile(matrixFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	text := m.document(string(old))
	if *update {
		if err := os.WriteFile(matrixFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(old), text); diff != "" {
		t.Errorf("docs/crash-matrix.md is not what was found; go test ./test/crash -update writes it anew (-file +found):\n%s", diff)
	}
}

// soaked are the sections that only the full exploration writes; other runs keep what stands there.
var soaked = regexp.MustCompile(`(?s)<!-- full -->\n(.*?)<!-- /full -->`)

func (m *matrix) document(old string) string {
	var b strings.Builder
	isTx := func(row string) bool { return strings.HasPrefix(row, "tx.") }
	isCall := func(row string) bool { return !isTx(row) }
	isLost := func(row string) bool { return m.withoutR2.cells[row]["lost"] != nil }
	all := func(string) bool { return true }

	b.WriteString(head)
	b.WriteString("| scenario | calls of ports | calls inside transactions | runs with one fault |\n| --- | --- | --- | --- |\n" + m.scenarios)
	fmt.Fprintf(&b, "\n## One fault\n\n%d runs. Every guarantee holds, but where it says otherwise.\n\n", m.single.runs)
	m.single.write(&b, "call", columns(), isCall)
	b.WriteString("A call inside a transaction that fails:\n\n")
	m.single.write(&b, "call", []string{fault.ErrorBefore.String()}, isTx)
	b.WriteString(lostText)
	m.withoutR2.write(&b, "call", []string{fault.Lost.String()}, isLost)
	b.WriteString(pairsText)
	b.WriteString("<!-- full -->\n")
	if section := soaked.FindStringSubmatch(old); !full && section != nil {
		b.WriteString(section[1])
	} else {
		fmt.Fprintf(&b, "%d runs.\n\n", m.pairs.runs)
		m.pairs.write(&b, "first, then", columns(), all)
	}
	b.WriteString("<!-- /full -->\n" + mistakesText)
	for _, x := range mistakes {
		seen := "seen"
		if x.r2Hides {
			seen = "hidden"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", x.name, x.scenario.name, x.breaks, seen)
	}
	return b.String()
}
