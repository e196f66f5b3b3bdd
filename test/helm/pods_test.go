package helm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// pod is what the tests look at of a Deployment's pods.
type pod struct {
	Metadata struct{ Labels, Annotations map[string]string }
	Spec     struct {
		AutomountServiceAccountToken bool
		EnableServiceLinks           *bool
		SecurityContext              struct{ RunAsNonRoot bool }
		Containers                   []struct {
			Args            []string
			Env             []struct{ Name, Value string }
			SecurityContext struct {
				AllowPrivilegeEscalation *bool
				ReadOnlyRootFilesystem   bool
				Capabilities             struct{ Drop []string }
			}
			LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Path, Scheme string } }
			VolumeMounts                  []struct{ Name, MountPath string }
		}
		Volumes []struct {
			Name      string
			ConfigMap struct{ Name string }
			Secret    secretVolume
			Projected struct {
				Sources []struct{ Secret secretVolume }
			}
		}
	}
}

type secretVolume struct {
	SecretName, Name string
	Items            []struct{ Key, Path string }
}

// into decodes part of an object.
func into[T any](t *testing.T, part any) (out T) {
	t.Helper()
	text, err := json.Marshal(part)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// pods gives the pods of both services by their component.
func pods(t *testing.T, objects []object) map[string]pod {
	t.Helper()
	all := map[string]pod{}
	for _, o := range objects {
		if o["kind"] == "Deployment" {
			d := into[struct{ Spec struct{ Template pod } }](t, o)
			all[d.Spec.Template.Metadata.Labels["app.kubernetes.io/component"]] = d.Spec.Template
		}
	}
	return all
}

func TestPodsMayDoNoMoreThanTheyNeed(t *testing.T) {
	for _, name := range samples {
		objects := rendered(t, name)
		for _, o := range objects {
			if o["kind"] == "Secret" {
				t.Errorf("%s: a secret is in the chart: %s", name, o.kindName())
			}
		}
		for service, p := range pods(t, objects) {
			c := p.Spec.Containers[0]
			s := c.SecurityContext
			if p.Spec.AutomountServiceAccountToken || !p.Spec.SecurityContext.RunAsNonRoot || !s.ReadOnlyRootFilesystem ||
				s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" {
				t.Errorf("%s, %s: %+v %+v", name, service, p.Spec, s)
			}
			if p.Spec.EnableServiceLinks == nil || *p.Spec.EnableServiceLinks {
				t.Errorf("%s, %s: services of the namespace are put into the environment", name, service)
			}
			if strings.Join(c.Args, " ") != "serve "+service {
				t.Errorf("%s, %s: runs %v", name, service, c.Args)
			}
		}
	}
}
