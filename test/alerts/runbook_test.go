package alerts

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// rules is what this test reads of a file of alert rules.
type rules struct {
	Groups []struct {
		Rules []struct {
			Alert       string
			Annotations map[string]string
		}
	}
}

// sections lists the anchors of a page's headings, as forges make them.
func sections(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(repository(strings.Split(page, "/")...))
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(text), -1) {
		words := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		anchors[strings.ReplaceAll(words, " ", "-")] = true
	}
	return anchors
}

func TestEachAlertPointsToASectionThatExists(t *testing.T) {
	text, err := os.ReadFile(repository("deploy", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file rules
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			looked++
			page, section, _ := strings.Cut(rule.Annotations["runbook"], "#")
			if page == "" || !sections(t, page)[section] {
				t.Errorf("%s points to %q, where there is nothing", rule.Alert, rule.Annotations["runbook"])
			}
		}
	}
	if looked == 0 {
		t.Error("no alert was found")
	}
}
