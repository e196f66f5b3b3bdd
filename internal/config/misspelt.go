package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tombstone-project/tombstone/policy"
)

// misspelt refuses variables of the environment whose names are almost those of settings: a setting that is left out by a
// slip of typing could mean another namespace, or no authentication. Other names with our prefix are let be: Kubernetes
// gives every pod such variables for a service named `tombstone`.
func misspelt(names []string) (faults []error) {
	known := knownNames()
	for _, name := range []string{"URL", "TOKEN", "TOKEN" + fileSuffix} { // of the commands that speak to a service
		known[prefix+name] = true
	}
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) || known[name] {
			continue
		}
		if near := nearest(name, known); near != "" {
			faults = append(faults, fmt.Errorf("there is no setting %s: write %s, or take it out of the environment", name, near))
		}
	}
	return faults
}

// nearest gives the known name that is most like the one written, by what comes after the prefix; "" when none is near.
func nearest(written string, known map[string]bool) string {
	rest := make([]string, 0, len(known))
	for _, name := range slices.Sorted(maps.Keys(known)) {
		rest = append(rest, strings.TrimPrefix(name, prefix))
	}
	if near := policy.Nearest(strings.TrimPrefix(written, prefix), rest); near != "" {
		return prefix + near
	}
	return ""
}
