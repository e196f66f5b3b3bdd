// Package helm holds the chart in deploy/helm to Helm's and Kubernetes' rules, and to the program that it runs. It is a
// module of its own, which imports nothing of the product, so that Helm is no dependency of it: `make helm` runs its tests.
package helm

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

// chartDir is the chart, seen from this package.
const chartDir = "../../deploy/helm"

// object is one Kubernetes object, as decoded from YAML.
type object map[string]any

// kindName is Kind/name.
func (o object) kindName() string {
	meta, _ := o["metadata"].(map[string]any)
	return fmt.Sprintf("%v/%v", o["kind"], meta["name"])
}

// values reads a file of values.
func values(file string) (map[string]any, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	return v, yaml.Unmarshal(text, &v)
}

// render gives the objects that the chart makes of values, in the order of the templates' names, and the notes. Values
// that the schema refuses are an error, as in `helm install`.
func render(given map[string]any) (objects []object, notes string, err error) {
	c, err := loader.Load(chartDir)
	if err != nil {
		return nil, "", err
	}
	release := chartutil.ReleaseOptions{Name: "shop", Namespace: "assets", IsInstall: true, Revision: 1}
	all, err := chartutil.ToRenderValues(c, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, "", err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return nil, "", err
	}
	for name, text := range files {
		if path.Base(name) == "NOTES.txt" {
			notes = text
			continue
		}
		of, err := decode(text)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w\n%s", name, err, text)
		}
		objects = append(objects, of...)
	}
	return objects, notes, nil
}

// decode reads YAML documents; a key that stands twice is an error, as it is for Kubernetes.
func decode(text string) (objects []object, err error) {
	for doc := range strings.SplitSeq("\n"+text, "\n---\n") {
		var o object
		if err := yaml.UnmarshalStrict([]byte(doc), &o); err != nil {
			return nil, err
		}
		if o != nil {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// manifest is objects as one YAML text.
func manifest(objects []object) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "---\n%s", text)
	}
	return out.Bytes(), nil
}
