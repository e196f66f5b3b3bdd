package helm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/policy"
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
			LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Path string } }
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

// TestTheProgramTakesItsSettings gives the program what a pod has: its environment, and the files that are mounted.
func TestTheProgramTakesItsSettings(t *testing.T) {
	needs := map[string][]string{
		"dependency": {config.Policy, config.NATSURL, config.GraphURI},
		"asset":      {config.Policy, config.NATSURL, config.DocumentsURI},
	}
	for _, name := range samples {
		all := pods(t, rendered(t, name))
		for service, names := range needs {
			t.Run(name+", "+service, func(t *testing.T) {
				root := mounted(t, all[service])
				env := map[string]string{}
				for _, e := range all[service].Spec.Containers[0].Env {
					env[e.Name] = strings.ReplaceAll(e.Value, "/etc/tombstone/", root+"/")
				}
				got, err := config.Load(config.Sources{LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
				if err == nil {
					err = got.Require(names...)
				}
				if err != nil {
					t.Fatal(err)
				}
				knownSettings(t, env)
				if _, err := policy.Load(got.Policy); err != nil {
					t.Error(err)
				}
				if _, foreign := env["AWS_ACCESS_KEY_ID"]; foreign && service == "dependency" {
					t.Error("the dependency service has the keys of the object store")
				}
			})
		}
	}
}

// knownSettings lets the program read the settings as a file, whose unknown names it refuses.
func knownSettings(t *testing.T, env map[string]string) {
	t.Helper()
	ours := map[string]string{}
	for name, value := range env {
		if strings.HasPrefix(name, "TOMBSTONE_") {
			ours[name] = value
		}
	}
	text, err := yaml.Marshal(ours)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(config.Sources{LookupEnv: func(string) (string, bool) { return "", false }, File: file}); err != nil {
		t.Error(err)
	}
}

// contents are what secrets and config maps hold here, by the file that they become.
var contents = map[string]string{
	"tokens.yaml":                   "- {sha256: 4fcbc14a166f9ca6a3654526f12ee1210260e10af7b1eab9b63236fa06adf307, subject: a, owner: default}\n",
	"TOMBSTONE_GRAPH_PASSWORD_FILE": "secret",
	"TOMBSTONE_NATS_URL_FILE":       "nats://user:secret@broker:4222",
	"TOMBSTONE_DOCUMENTS_URI_FILE":  "mongodb://user:secret@documents/tombstone",
	"TOMBSTONE_RECEIPT_KEY_FILE":    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n",
	"TOMBSTONE_NATS_CREDS":          "credentials",
	"AWS_CA_BUNDLE":                 "authorities",
}

// mounted writes the volumes of a pod below a folder, which stands for /etc/tombstone.
func mounted(t *testing.T, p pod) (root string) {
	t.Helper()
	root = t.TempDir()
	at := map[string]string{}
	for _, m := range p.Spec.Containers[0].VolumeMounts {
		at[m.Name] = filepath.Join(root, strings.TrimPrefix(m.MountPath, "/etc/tombstone"))
	}
	write := func(volume, name, text string) {
		if err := os.MkdirAll(at[volume], 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at[volume], name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range p.Spec.Volumes {
		if v.ConfigMap.Name != "" { // by whatever key the policy asks for
			for _, name := range []string{"policy.yaml", "meshes.yaml"} {
				write(v.Name, name, "kinds: {bare: {}}\n")
			}
		}
		secrets := []secretVolume{v.Secret}
		for _, s := range v.Projected.Sources {
			secrets = append(secrets, s.Secret)
		}
		for _, s := range secrets {
			for _, item := range s.Items {
				text, known := contents[item.Path]
				if !known {
					t.Errorf("the test does not know what is in %s", item.Path)
				}
				write(v.Name, item.Path, text)
			}
		}
	}
	return root
}
