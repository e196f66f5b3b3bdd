package helm

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// samples are the values that the tests render.
var samples = []string{"least", "most"}

func sample(t *testing.T, name string) map[string]any {
	t.Helper()
	v, err := values(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rendered gives the objects of a sample, after changes to its values.
func rendered(t *testing.T, name string, changes ...func(map[string]any)) []object {
	t.Helper()
	v := sample(t, name)
	for _, change := range changes {
		change(v)
	}
	objects, notes, err := render(v)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(notes, "helm test shop -n assets") {
		t.Errorf("the notes do not say how to test it:\n%s", notes)
	}
	return objects
}

func TestLint(t *testing.T) {
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			for _, m := range lint.AllWithKubeVersion(chartDir, sample(t, name), "assets", nil).Messages {
				if m.Severity > support.InfoSev {
					t.Error(m)
				}
			}
		})
	}
}

// TestKubernetesTakesWhatIsRendered holds the objects to the published schemas of the oldest and of the newest version, to
// the last member. The checker is a Python package (test/helm/requirements.txt).
func TestKubernetesTakesWhatIsRendered(t *testing.T) {
	checker, err := exec.LookPath("kubernetes-validate")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("skipped: kubernetes-validate is not in the PATH; `make helm` installs it")
	}
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			objects := slices.DeleteFunc(rendered(t, name), func(o object) bool { return o["kind"] == "ServiceMonitor" }) // not Kubernetes' own
			text, err := manifest(objects)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), name+".yaml")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, version := range []string{"1.30.0", "1.37.0"} {
				out, err := exec.Command(checker, "--strict", "-k", version, file).CombinedOutput()
				if err != nil || strings.Count(string(out), " passed ") != len(objects) {
					t.Errorf("Kubernetes %s: %v\n%s", version, err, out)
				}
			}
		})
	}
}

func TestWhatIsRendered(t *testing.T) {
	want := map[string][]string{
		"least": {"ConfigMap/shop-tombstone", "Deployment/shop-tombstone-asset", "Deployment/shop-tombstone-dependency",
			"NetworkPolicy/shop-tombstone-asset", "NetworkPolicy/shop-tombstone-dependency", "Pod/shop-tombstone-asset-ready",
			"Pod/shop-tombstone-dependency-ready", "PodDisruptionBudget/shop-tombstone-asset", "PodDisruptionBudget/shop-tombstone-dependency",
			"Service/shop-tombstone-asset", "Service/shop-tombstone-dependency", "ServiceAccount/shop-tombstone"},
		"most": {"Deployment/erasing-asset", "Deployment/erasing-dependency", "NetworkPolicy/erasing-asset", "NetworkPolicy/erasing-dependency",
			"Pod/erasing-asset-ready", "Pod/erasing-dependency-ready", "PodDisruptionBudget/erasing-asset", "PodDisruptionBudget/erasing-dependency",
			"Service/erasing-asset", "Service/erasing-dependency", "ServiceAccount/tombstone-pods", "ServiceMonitor/erasing"},
	}
	for _, name := range samples {
		var got []string
		for _, o := range rendered(t, name) {
			got = append(got, o.kindName())
		}
		slices.Sort(got)
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// set gives a change of one value; the words of its path have dots between them. Nil takes it away.
func set(path string, value any) func(map[string]any) {
	return func(v map[string]any) {
		words := strings.Split(path, ".")
		for _, w := range words[:len(words)-1] {
			next, ok := v[w].(map[string]any)
			if !ok {
				next = map[string]any{}
				v[w] = next
			}
			v = next
		}
		v[words[len(words)-1]] = value
		maps.DeleteFunc(v, func(_ string, x any) bool { return x == nil })
	}
}

func TestBadValuesAreRefused(t *testing.T) {
	for name, bad := range map[string]struct {
		path  string
		value any
		says  string
	}{
		"no policy":                         {"policy", nil, "/policy"},
		"nobody may call":                   {"auth.tokens", nil, "/auth"},
		"no graph":                          {"graph.uri", nil, "/graph/uri"},
		"no broker":                         {"broker.url", nil, "/broker"},
		"no region":                         {"blobs.region", "", "/blobs"},
		"no documents":                      {"documents.uri", nil, "/documents"},
		"a graph in a file":                 {"graph.uri", "sqlite:///graph.db", "/graph/uri"},
		"a password in the graph's URI":     {"graph.uri", "neo4j://neo4j:secret@graph:7687", "/graph/uri"},
		"a password in the broker's URL":    {"broker.url", "nats://a:secret@broker:4222", "/broker/url"},
		"a password in the documents' URI":  {"documents.uri", "mongodb://a:secret@documents/tombstone", "/documents/uri"},
		"documents without a database":      {"documents.uri", "mongodb://documents:27017", "/documents/uri"},
		"a password as a value":             {"graph.password", "secret", "/graph/password"},
		"a password as a setting":           {"settings.TOMBSTONE_GRAPH_PASSWORD", "secret", "TOMBSTONE_GRAPH_PASSWORD"},
		"no replica":                        {"dependency.replicas", 0, "/dependency/replicas"},
		"replicas in words":                 {"asset.replicas", "two", "/asset/replicas"},
		"more copies of streams than five":  {"broker.streamReplicas", 7, "/broker/streamReplicas"},
		"a budget that no drain may touch":  {"podDisruptionBudget.maxUnavailable", 0, "/podDisruptionBudget/maxUnavailable"},
		"less time than an end takes":       {"terminationGracePeriodSeconds", 10, "/terminationGracePeriodSeconds"},
		"a value that there is not":         {"replicaCount", 3, "replicaCount"},
		"a digest that is none":             {"image.digest", "latest", "/image/digest"},
		"a secret file without its key":     {"secretFiles.X_FILE", map[string]any{"secret": "a"}, "/secretFiles/X_FILE"},
		"an issuer that anybody could fake": {"auth.oidc.issuer", "http://issuer", "/auth/oidc/issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			v := sample(t, "least")
			set(bad.path, bad.value)(v)
			if _, _, err := render(v); err == nil || !strings.Contains(err.Error(), bad.says) {
				t.Errorf("want an error at %s, got %v", bad.says, err)
			}
		})
	}
}
