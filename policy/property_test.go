package policy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever policy is accepted, and whatever the ids, owners, generations and attributes are: no place of one asset is a
// place, or the beginning of a place, of another asset, unless both claim it; nor of another part of the same asset.
func TestNoTwoAssetsHaveOnePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyAccepted(t)
		for range 5 {
			assets := anyAssets(t, p)
			for i, a := range assets {
				a.mustNotMeet(t, p, a)
				for _, b := range assets[i+1:] {
					a.mustNotMeet(t, p, b)
				}
			}
		}
	})
}

// mustNotMeet compares the places of two assets that may exist together, or those of the parts of one.
func (a asset) mustNotMeet(t *rapid.T, p *Policy, b asset) {
	if a.ID != b.ID && slices.ContainsFunc(a.claims, func(c string) bool { return slices.Contains(b.claims, c) }) {
		return
	}
	for _, x := range a.places {
		for _, y := range b.places {
			if x.meet(y.Location) && (a.ID != b.ID || x.part != y.part) {
				t.Fatalf("%v\nplace of part %s of %+v:\n%+v\nmeets that of part %s of %+v:\n%+v",
					p.Places(), x.part, a.Subject, x.Location, y.part, b.Subject, y.Location)
			}
		}
	}
}

// A place that says it is fenced is another one in another generation, whatever else has changed but the id.
func TestAFencedPlaceIsNotThatOfAnotherGeneration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyAccepted(t)
		for _, a := range anyAssets(t, p) {
			again := a.Subject
			seen := []string{a.Generation}
			for _, place := range a.places {
				seen = append(seen, place.text())
			}
			again.Generation = anyValue(t, "new generation", seen)
			again.Attributes = map[string]any{"a": anyValue(t, "new a", seen), "b": anyValue(t, "new b", seen)}
			if again.Generation == a.Generation || a.kind.Check(again) != nil {
				continue
			}
			for _, part := range a.kind.Parts {
				then, err := part.Location(a.Subject)
				now, err2 := part.Location(again)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				if then.Fenced != now.Fenced || now.Fenced && now.meet(then) {
					t.Fatalf("%v\n%+v\nin generation %q meets that of %q\n%+v", p.Places(), then, a.Generation, again.Generation, now)
				}
			}
		}
	})
}

// The properties above are worth something only if the random policies have places that could meet.
func TestRandomPoliciesHavePlacesSideBySide(t *testing.T) {
	most := 0
	rapid.Check(t, func(t *rapid.T) { most = max(most, len(anyAccepted(t).allPlaces())) })
	if most < 4 {
		t.Errorf("the richest of the random policies has %d places; want 4 or more", most)
	}
}
