// Package alerts holds the alert rules and the dashboard of deploy/ to the program: what they name is measured, and each alert
// fires on a system that was broken for it, and on none that is well.
package alerts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/devstack"
	"github.com/tombstone-project/tombstone/internal/devstack/devtest"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/containers"
	"github.com/tombstone-project/tombstone/test/system"
)

func TestMain(m *testing.M) { containers.Main(m) }

const policyText = `
graph: {label: %[2]s}
stalled_after: 1s
resend_after: 2s
canary: {every: 1s, bucket: %[1]s}
kinds:
  item: {parts: {file: {blobs: {bucket: %[1]s, prefix: "files/{id}/{generation}/"}}}}
`

// scenario and answer are those of tools/promcheck.
type scenario struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	Stuck  bool   `json:"stuck"`
	wants  []string
}

type answer struct {
	Alerts      map[string][]string `json:"alerts"`
	Expressions [][]string          `json:"expressions"`
	Fired       map[string][]string `json:"fired"`
}

// repository is a path in it. It does not begin at the working folder: the embedded object store moves that.
func repository(names ...string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(append([]string{filepath.Dir(here), "..", ".."}, names...)...)
}

// ask has the rules looked at by Prometheus' own code.
func ask(t *testing.T, expressions []string, scenarios []scenario) (a answer) {
	t.Helper()
	rules, err := os.ReadFile(repository("deploy", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	question, err := json.Marshal(map[string]any{"rules": string(rules), "expressions": expressions, "scenarios": scenarios})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", ".")
	run.Dir, run.Stdin = repository("tools", "promcheck"), bytes.NewReader(question)
	var faults bytes.Buffer
	run.Stderr = &faults
	out, err := run.Output()
	if err == nil {
		err = json.Unmarshal(out, &a)
	}
	if err != nil {
		t.Fatalf("promcheck: %v\n%s", err, faults.String())
	}
	return a
}

// scrape reads /metrics; nothing when nobody answers.
func scrape(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// scraped waits until a line of the metrics fits each pattern.
func scraped(t *testing.T, url string, patterns ...string) (text string) {
	t.Helper()
	system.Eventually(t, "metrics", func() error {
		text = scrape(t, url)
		for _, p := range patterns {
			if !regexp.MustCompile(`(?m)^` + p + `$`).MatchString(text) {
				return fmt.Errorf("nothing fits %s", p)
			}
		}
		return nil
	})
	return text
}

// more is a number above 0.
const more = ` [0-9.e+-]*[1-9][0-9.e+-]*`

// wells is a system that has done everything, as it is scraped then.
func wells(t *testing.T, sys *system.System) string {
	t.Helper()
	create(t, sys, "item", "well")
	sys.Finish("well")
	return scraped(t, sys.URL, "tombstone_oldest_incomplete_seconds 0", "tombstone_canary_seconds .*", `tombstone_deletions_total{result="deleted"}`+more)
}

func create(t *testing.T, sys *system.System, kind, id string) {
	t.Helper()
	if _, _, err := sys.PutAsset(t.Context(), id, dependency.Put{Kind: kind}); err != nil {
		t.Fatal(err)
	}
}

func TestEachAlertFiresOnASystemThatIsBrokenForIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds Prometheus' query engine")
	}
	cases := []scenario{healthy(t), nobodyUp(t), brokerAway(t), bucketMissing(t), unreadable(t), retentionWaits(t), retentionRefused(t), sweepRefused(t)}
	a := ask(t, nil, cases)
	fired := map[string]bool{}
	for _, c := range cases {
		for _, alert := range c.wants {
			if fired[alert] = true; !slices.Contains(a.Fired[c.Name], alert) {
				t.Errorf("%s: %s does not fire, but %v", c.Name, alert, a.Fired[c.Name])
			}
		}
		if len(c.wants) == 0 && len(a.Fired[c.Name]) > 0 {
			t.Errorf("%s: %v", c.Name, a.Fired[c.Name])
		}
	}
	for _, alert := range slices.Sorted(maps.Keys(a.Alerts)) {
		if !fired[alert] {
			t.Errorf("no system is broken for %s", alert)
		}
	}
}

func healthy(t *testing.T) scenario {
	sys := system.StartWith(t, system.Embedded(t), app.All, policyText)
	defer sys.Stop()
	text := wells(t, sys)
	return scenario{Name: "all is well", Before: text, After: text}
}

func nobodyUp(t *testing.T) scenario {
	sys := system.StartWith(t, system.Embedded(t), app.All, policyText)
	before := wells(t, sys)
	sys.Stop()
	return scenario{Name: "nobody is up", Before: before, After: scrape(t, sys.URL), wants: []string{"TombstoneNotMeasured"}}
}

// brokerAway is a broker that ends.
func brokerAway(t *testing.T) scenario {
	s := system.Embedded(t)
	broker, err := devstack.NATS(t.Context(), devstack.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	s.NATS = broker.URL()
	sys := system.StartWith(t, s, app.All, policyText)
	before := wells(t, sys)
	create(t, sys, "item", "waits")
	if err := broker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := sys.Delete(t.Context(), "waits", dependency.DeleteRequest{}); err != nil {
		t.Fatal(err)
	}
	after := scraped(t, sys.URL, "tombstone_oldest_pending_seconds"+more, "tombstone_oldest_incomplete_seconds"+more, "tombstone_stalled"+more)
	sys.Stop()
	return scenario{Name: "the broker is away", Before: before, After: after, Stuck: true,
		wants: []string{"TombstoneCommandsPending", "TombstoneDeletionIncomplete", "TombstoneStalled", "TombstoneCanaryOverdue"}}
}

// bucketMissing is a bucket that is not there: a wrong address.
func bucketMissing(t *testing.T) scenario {
	s := system.Embedded(t)
	text := strings.Replace(policyText, `item: {parts: {file: {blobs: {bucket: %[1]s,`, `item: {parts: {file: {blobs: {bucket: nosuchbucket,`, 1)
	sys := system.StartWith(t, s, app.All, text)
	defer sys.Stop()
	before := scraped(t, sys.URL, `tombstone_deletions_total{result="deleted"}`+more, "tombstone_stalled 0")
	create(t, sys, "item", "nowhere")
	if _, err := sys.Delete(t.Context(), "nowhere", dependency.DeleteRequest{}); err != nil {
		t.Fatal(err)
	}
	after := scraped(t, sys.URL, `tombstone_blocked{reason="bucket-missing"}`+more)
	return scenario{Name: "a bucket is missing", Before: before, After: after, Stuck: true, wants: []string{"TombstoneBlocked"}}
}

func unreadable(t *testing.T) scenario {
	s := system.Embedded(t)
	sys := system.StartWith(t, s, app.All, policyText)
	defer sys.Stop()
	before := wells(t, sys)
	nc, err := nats.Connect(devtest.NATS(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.Publish(events.Names{Namespace: s.Namespace}.Command("d", "a"), []byte("{")); err != nil {
		t.Fatal(err)
	}
	after := scraped(t, sys.URL, "tombstone_dead_letters_total 1")
	return scenario{Name: "a message cannot be read", Before: before, After: after, wants: []string{"TombstoneDeadLetters"}}
}

const expires = `
graph: {label: %[2]s}
retention: {every: 200ms%[3]s}
%[4]s
kinds: {item: {parts: {file: {blobs: {bucket: %[1]s, prefix: "files/{id}/{generation}/"}}}, retention: {after: 1ms}}}
`

// expiring is a system whose assets expire at once.
func expiring(t *testing.T, schedule, more string) *system.System {
	t.Helper()
	sys := system.StartWith(t, system.Embedded(t), app.All, strings.NewReplacer("%[3]s", schedule, "%[4]s", more).Replace(expires))
	create(t, sys, "item", "old")
	return sys
}

// retentionWaits is a policy that nobody confirms.
func retentionWaits(t *testing.T) scenario {
	sys := expiring(t, "", "")
	before := scrape(t, sys.URL)
	after := scraped(t, sys.URL, "tombstone_retention_oldest_seconds"+more)
	sys.Stop()
	return scenario{Name: "retention waits", Before: before, After: after, Stuck: true, wants: []string{"TombstoneRetentionWaits"}}
}

func retentionRefused(t *testing.T) scenario {
	sys := expiring(t, ", first_run: apply", "limits: {max_share_per_owner: 0.1}")
	defer sys.Stop()
	return afterRuns(scraped(t, sys.URL, refusedRuns("retention")+more), "retention", "TombstoneRetentionRefused")
}

// sweepRefused is a sweep with an empty graph, over stores that are not empty.
func sweepRefused(t *testing.T) scenario {
	s := system.Embedded(t)
	system.PutObject(t, s, "files/stranger/0190a000-0000-7000-8000-000000000000/data", "of another installation")
	sys := system.StartWith(t, s, app.All, "sweep: {every: 1s}"+strings.Replace(policyText, "canary: {every: 1s, bucket: %[1]s}", "", 1))
	defer sys.Stop()
	return afterRuns(scraped(t, sys.URL, refusedRuns("sweep")+more), "sweep", "TombstoneSweepRefused")
}

func refusedRuns(of string) string { return `tombstone_` + of + `_runs_total{result="refused"}` }

// afterRuns is a system before and after its first refused run.
func afterRuns(after, of, alert string) scenario {
	before := regexp.MustCompile(`(?m)^(`+refusedRuns(of)+`) .*$`).ReplaceAllString(after, "$1 0")
	return scenario{Name: of + " is refused", Before: before, After: after, wants: []string{alert}}
}
