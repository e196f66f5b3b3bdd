package alerts

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// measured lists the metrics of the program, as its source names them; of histograms the series, too.
func measured(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(repository("internal", "telemetry", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	literal := regexp.MustCompile(`"(tombstone_[a-z_]+)"`)
	for _, file := range append(files, repository("internal", "httpapi", "metrics.go")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range literal.FindAllStringSubmatch(string(text), -1) {
			names[found[1]], names[found[1]+"_bucket"], names[found[1]+"_count"] = true, true, true
		}
	}
	return names
}

// queries lists the queries of the dashboard.
func queries(t *testing.T) (list []string) {
	t.Helper()
	text, err := os.ReadFile(repository("deploy", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 || p.Title == "" {
			t.Errorf("a panel without title or query: %q", p.Title)
		}
		for _, target := range p.Targets {
			list = append(list, target.Expr)
		}
	}
	return list
}

func TestAlertsAndDashboardNameWhatIsMeasuredAndTheDocumentsWhatToDo(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds Prometheus' parser")
	}
	shown := queries(t)
	a := ask(t, shown, nil)
	known := measured(t)
	for i, names := range a.Expressions {
		for _, name := range names {
			if !known[name] {
				t.Errorf("the dashboard names %s, which nobody measures: %s", name, shown[i])
			}
		}
	}
	for alert, names := range a.Alerts {
		for _, name := range names {
			if !known[name] {
				t.Errorf("%s names %s, which nobody measures", alert, name)
			}
		}
	}
	page, err := os.ReadFile(repository("docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Alerts\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var told []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(Tombstone[A-Za-z]+)` \\| .+ \\| .+ \\|$").FindAllStringSubmatch(table, -1) {
		told = append(told, row[1])
	}
	if want := slices.Sorted(maps.Keys(a.Alerts)); !slices.Equal(want, slices.Sorted(slices.Values(told))) {
		t.Errorf("alerts: %v; told: %v", want, told)
	}
	for name := range known {
		base := strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
		if base == name && !strings.Contains(string(page), "`"+name) && !strings.HasPrefix(name, "tombstone_http_") {
			t.Errorf("the page of operations does not tell of %s", name)
		}
	}
}
