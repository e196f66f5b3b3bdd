package mesh

import (
	"reflect"
	"testing"

	"github.com/tombstone-project/tombstone/policy"
)

func TestLibraryFitsItsPolicy(t *testing.T) {
	p, err := policy.Parse("policy.yaml", Policy)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, a := range Library(1) {
		kind, ok := p.Kind(a.Kind)
		if !ok {
			t.Errorf("%s: kind %q is not in the policy", a.ID, a.Kind)
			continue
		}
		if _, ok := kind.Part("preview"); len(a.Preview) > 0 && !ok {
			t.Errorf("%s has a preview, its kind has none", a.ID)
		}
		for _, n := range a.Needs {
			if !known[n] {
				t.Errorf("%s needs %s, which comes later or not at all", a.ID, n)
			}
		}
		known[a.ID] = true
	}
}

func TestSameSeedMakesTheSameLibrary(t *testing.T) {
	if !reflect.DeepEqual(Library(7), Library(7)) {
		t.Error("two libraries of one seed differ")
	}
}
