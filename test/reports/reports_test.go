// Package reports holds pages of docs/ to the code: docs/reports.md to the tests that it names, docs/operations.md to the
// reasons and metrics that there are.
package reports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// reports is how many there are, H-01 to H-79.
const reports = 79

var (
	row  = regexp.MustCompile(`(?m)^\| (H-\d\d) \| (.+) \| (.+) \|$`)
	test = regexp.MustCompile("`([\\w/]+) (\\w+)`")
)

func TestThePageNamesTestsThatSayWhichReportTheyCover(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/reports.md"))
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]map[string]string{}
	seen := map[string]bool{}
	for _, line := range row.FindAllStringSubmatch(string(page), -1) {
		report := line[1]
		if seen[report] {
			t.Errorf("%s has two lines", report)
		}
		seen[report] = true
		tests := test.FindAllStringSubmatch(line[3], -1)
		if len(tests) == 0 {
			t.Errorf("%s names no test", report)
		}
		for _, named := range tests {
			folder, name := named[1], named[2]
			if comments[folder] == nil {
				comments[folder] = commentsIn(t, folder)
			}
			switch comment, found := comments[folder][name]; {
			case !found:
				t.Errorf("%s: there is no %s in %s", report, name, folder)
			case !strings.Contains(comment, report):
				t.Errorf("%s: the comment of %s in %s does not hold it", report, name, folder)
			}
		}
	}
	for n := 1; n <= reports; n++ {
		if report := fmt.Sprintf("H-%02d", n); !seen[report] {
			t.Errorf("%s has no line", report)
		}
	}
}

// commentsIn gives the comments of the functions in a folder, whatever build tags their files have.
func commentsIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				comments[f.Name.Name] = f.Doc.Text()
			}
		}
	}
	return comments
}

func TestTheOperationsPageHasEveryReasonAndMetric(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for file, names := range map[string]*regexp.Regexp{
		"services/asset/blocked.go":     regexp.MustCompile(`Reason = "([a-z-]+)"`),
		"internal/telemetry/metrics.go": regexp.MustCompile(`"(tombstone_\w+)"`),
		"internal/telemetry/backlog.go": regexp.MustCompile(`"(tombstone_\w+)"`),
		"internal/telemetry/jobs.go":    regexp.MustCompile(`"(tombstone_\w+)"`),
	} {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		found := names.FindAllStringSubmatch(string(source), -1)
		if len(found) == 0 {
			t.Errorf("nothing was found in %s", file)
		}
		for _, name := range found {
			if !regexp.MustCompile("`" + name[1] + "[`{]").Match(page) {
				t.Errorf("%s, of %s, is not on the page", name[1], file)
			}
		}
	}
}
