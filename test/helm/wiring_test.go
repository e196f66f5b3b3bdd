package helm

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tombstone-project/tombstone/internal/auth"
	"github.com/tombstone-project/tombstone/internal/httpapi"
)

// selector is what picks pods.
type selector struct{ MatchLabels map[string]string }

func TestEachSelectorPicksThePodsOfOneService(t *testing.T) {
	for _, name := range samples {
		objects := rendered(t, name)
		all := pods(t, objects)
		for _, o := range objects {
			spec := into[struct {
				Spec struct{ Selector, PodSelector any }
			}](t, o).Spec
			var picks map[string]string
			switch o["kind"] {
			case "Service":
				picks = into[map[string]string](t, spec.Selector)
			case "Deployment", "PodDisruptionBudget":
				picks = into[selector](t, spec.Selector).MatchLabels
			case "NetworkPolicy":
				picks = into[selector](t, spec.PodSelector).MatchLabels
			default:
				continue
			}
			component := picks["app.kubernetes.io/component"]
			for service, p := range all {
				matches := true
				for label, value := range picks {
					matches = matches && p.Metadata.Labels[label] == value
				}
				if matches != (service == component) {
					t.Errorf("%s, %s: picks pods of the %s service: %v", name, o.kindName(), service, matches)
				}
			}
		}
	}
}

func TestEachServiceReachesItsOwnStoresAlone(t *testing.T) {
	want := map[string]string{"dependency": "[4222 53 53 7687]", "asset": "[27017 4222 443 53 53]"}
	for _, o := range rendered(t, "least") {
		if o["kind"] != "NetworkPolicy" {
			continue
		}
		policy := into[struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				PolicyTypes []string
				Ingress     []struct{ From, Ports []any }
				Egress      []struct{ Ports []struct{ Port int } }
			}
		}](t, o)
		var ports []string
		for _, rule := range policy.Spec.Egress {
			for _, p := range rule.Ports {
				ports = append(ports, fmt.Sprint(p.Port))
			}
		}
		slices.Sort(ports)
		service := policy.Metadata.Labels["app.kubernetes.io/component"]
		if fmt.Sprint(ports) != want[service] || fmt.Sprint(policy.Spec.PolicyTypes) != "[Ingress Egress]" {
			t.Errorf("%s may reach %v", service, ports)
		}
		if in := policy.Spec.Ingress; len(in) != 1 || len(in[0].From) != 1 || len(in[0].Ports) != 1 {
			t.Errorf("%s may be reached by %+v", service, in)
		}
	}
}

func TestProbesAskWhatTheServiceAnswers(t *testing.T) {
	who, err := auth.New(auth.Setting{Method: auth.MethodNone}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	server, err := httpapi.New(httpapi.Config{Dependency: struct{ httpapi.DependencyAPI }{}, Auth: who, Registerer: registry, Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{"/metrics": true} // the ServiceMonitor's
	for _, p := range pods(t, rendered(t, "most")) {
		paths[p.Spec.Containers[0].LivenessProbe.HTTPGet.Path] = true
		paths[p.Spec.Containers[0].ReadinessProbe.HTTPGet.Path] = true
	}
	if len(paths) != 3 {
		t.Errorf("probes ask the same: %v", paths)
	}
	for path := range paths {
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil))
		if answer.Code != http.StatusOK {
			t.Errorf("%s answers %d", path, answer.Code)
		}
	}
}

func TestAChangeOfThePolicyStartsNewPods(t *testing.T) {
	before := pods(t, rendered(t, "least"))
	after := pods(t, rendered(t, "least", set("policy", "kinds: {bare: {}}\n")))
	for service := range before {
		if maps.Equal(before[service].Metadata.Annotations, after[service].Metadata.Annotations) {
			t.Errorf("%s goes on with the old one", service)
		}
	}
}

func TestEachServiceIsAUserOfItsOwnOnTheBroker(t *testing.T) {
	want := map[string]string{"dependency": "deciding.creds", "asset": "erasing.creds"}
	for service, p := range pods(t, rendered(t, "most")) {
		keys := map[string]string{}
		for _, v := range p.Spec.Volumes {
			for _, s := range v.Projected.Sources {
				for _, item := range s.Secret.Items {
					keys[item.Path] = item.Key
				}
			}
		}
		if keys["TOMBSTONE_NATS_CREDS"] != want[service] {
			t.Errorf("%s has the credentials %q", service, keys["TOMBSTONE_NATS_CREDS"])
		}
	}
}
