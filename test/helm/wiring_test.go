package helm

import (
	"fmt"
	"maps"
	"slices"
	"testing"
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
