package policy

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/problem"
)

// draft is a policy in the making: kind → part → places, the present one first.
type draft map[string]map[string][]string

// text writes the draft as a policy.
func (d draft) text() string {
	var b strings.Builder
	b.WriteString("kinds:\n")
	for _, kind := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&b, "  %s:\n    parts:\n", kind)
		for _, part := range slices.Sorted(maps.Keys(d[kind])) {
			places := d[kind][part]
			fmt.Fprintf(&b, "      %s:\n        %s\n        former:", part, places[0])
			for _, place := range places[1:] {
				fmt.Fprintf(&b, "\n        - %s", place)
			}
			if len(places) == 1 {
				b.WriteString(" []")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// anyTemplate draws a template out of few words and many variables, so that much of it nearly collides.
func anyTemplate(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"{id}", "{id}", "{id}", "{owner}", "{generation}", "{kind}", "{hash:1}", "{hash:2}", "{attributes.a}", "{attributes.b|path}",
		"a", "b", "a-", "-b", ".x", "0",
	})
	segment := rapid.Map(rapid.SliceOfN(piece, 1, 2), func(s []string) string { return strings.Join(s, "") })
	return strings.Join(rapid.SliceOfN(segment, 1, 3).Draw(t, "template"), "/")
}

func anyPlace(t *rapid.T) string {
	switch text := anyTemplate(t); rapid.IntRange(0, 3).Draw(t, "sort") {
	case 0:
		return fmt.Sprintf("document: {collection: one, key: %q}", text)
	case 1:
		return fmt.Sprintf("blobs: {bucket: one, key: %q}", text)
	default:
		return fmt.Sprintf("blobs: {bucket: one, prefix: %q}", text+"/")
	}
}

// anyDraft draws a policy that Parse accepts: place by place, each left out again when it is refused.
func anyDraft(t *rapid.T) draft {
	d := draft{"k": {}, "l": {}}
	for range rapid.IntRange(2, 12).Draw(t, "places") {
		kind := rapid.SampledFrom([]string{"k", "l"}).Draw(t, "kind")
		part := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "part")
		before := d[kind][part]
		d[kind][part] = append(slices.Clone(before), anyPlace(t))
		if _, err := Parse("p", []byte(d.text())); err == nil {
			continue
		}
		if d[kind][part] = before; before == nil {
			delete(d[kind], part)
		}
	}
	return d
}

func anyAccepted(t *rapid.T) *Policy {
	p, err := Parse("p", []byte(anyDraft(t).text()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// anyValue draws an id, an owner, … out of few letters, or out of the places of other assets, as an attacker would.
func anyValue(t *rapid.T, what string, seen []string) string {
	letters := rapid.SampledFrom([]string{"a", "b", "-", ".", "x", "0", "1", "/", "%", "%2F", "..", "k"})
	short := rapid.Map(rapid.SliceOfN(letters, 1, 4), func(s []string) string { return strings.Join(s, "") })
	if len(seen) == 0 {
		return short.Draw(t, what)
	}
	stolen := rapid.Custom(func(t *rapid.T) string {
		pieces := strings.Split(strings.Trim(rapid.SampledFrom(seen).Draw(t, "seen"), "/"), "/")
		from := rapid.IntRange(0, len(pieces)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(pieces)).Draw(t, "to")
		return strings.Join(pieces[from:to], "/")
	})
	return rapid.OneOf(short, stolen).Filter(func(s string) bool { return s != "" }).Draw(t, what)
}

// asset is one asset of a random policy with its places, each with the part that it belongs to.
type asset struct {
	Subject
	kind   *Kind
	places []assetPlace
	claims []string
}

type assetPlace struct {
	part string
	Location
}

// anyAssets draws assets with different ids and generations and works out their places; those that a PUT would refuse are left out.
// About every second one is made to have a place of one that is there already.
func anyAssets(t *rapid.T, p *Policy) []asset {
	var out []asset
	var seen []string
	used := map[string]bool{}
	for range rapid.IntRange(2, 8).Draw(t, "assets") {
		s := Subject{
			ID: anyValue(t, "id", seen), Owner: anyValue(t, "owner", seen), Generation: anyValue(t, "generation", seen),
			Kind:       rapid.SampledFrom([]string{"k", "l"}).Draw(t, "of kind"),
			Attributes: map[string]any{"a": anyValue(t, "a", seen), "b": anyValue(t, "b", seen)},
		}
		if len(seen) > 0 && rapid.Bool().Draw(t, "forge") {
			s = forge(t, p, s, rapid.SampledFrom(seen).Draw(t, "target"))
		}
		a := asset{Subject: s, kind: p.Kinds[s.Kind]}
		if err := a.kind.Check(s); err != nil {
			if problem.As(err) == nil {
				t.Fatalf("Check of %+v: %v is no refusal", s, err)
			}
			continue
		}
		if used["id "+s.ID] || used["generation "+s.Generation] {
			continue
		}
		used["id "+s.ID], used["generation "+s.Generation] = true, true
		a.work(t)
		for _, place := range a.places {
			seen = append(seen, place.text())
		}
		out = append(out, a)
	}
	return out
}

// text is the key or prefix of a location.
func (l Location) text() string { return l.Prefix + l.Key + l.DocumentKey }

// forge changes the values of an asset so that one of its places would be the target, or begin like it, or go on from
// it: it takes some template of the policy and reads the values back from the target.
func forge(t *rapid.T, p *Policy, s Subject, target string) Subject {
	places := p.allPlaces()
	place := rapid.SampledFrom(places).Draw(t, "forged place")
	if rapid.Bool().Draw(t, "longer") {
		target += rapid.SampledFrom([]string{"a", "/a", "a/b/", "a/b/c"}).Draw(t, "tail")
	}
	raw := place.raw()
	values := regexp.MustCompile("^" + readBack(t, place.template(), raw)).FindStringSubmatch(target)
	if values == nil {
		return s
	}
	s.Kind = place.kind
	for _, piece := range place.template().pieces {
		if piece.variable == literal || piece.variable == hashVariable {
			continue
		}
		values = values[1:]
		value := values[0]
		if plain, err := url.PathUnescape(value); err == nil && piece.encoded() && !raw {
			value = plain
		}
		switch piece.variable {
		case idVariable:
			s.ID = value
		case ownerVariable:
			s.Owner = value
		case generationVariable:
			s.Generation = value
		case attributeVariable:
			s.Attributes[piece.attribute] = value
		}
	}
	return s
}

// readBack writes a template as a regular expression with a group for each value, greedy or not as drawn.
func readBack(t *rapid.T, tmpl *Template, raw bool) string {
	expression := ""
	for _, piece := range tmpl.pieces {
		lazy := rapid.SampledFrom([]string{"", "?"}).Draw(t, "lazy")
		switch {
		case piece.variable == literal:
			expression += regexp.QuoteMeta(piece.literal)
		case piece.variable == hashVariable:
			expression += fmt.Sprintf("[0-9a-f]{%d}", piece.digits)
		case piece.path || raw:
			expression += "(.+" + lazy + ")"
		default:
			expression += "([^/]+" + lazy + ")"
		}
	}
	return expression + rapid.SampledFrom([]string{"", "$"}).Draw(t, "end")
}

// work fills in places and claims; after Check neither can fail.
func (a *asset) work(t *rapid.T) {
	var err error
	for _, part := range a.kind.Parts {
		locations, e := part.Locations(a.Subject)
		err = errors.Join(err, e)
		for _, l := range locations {
			a.places = append(a.places, assetPlace{part.Name, l})
		}
	}
	claims, e := a.kind.Claims(a.Subject)
	if err = errors.Join(err, e); err != nil {
		t.Fatalf("after Check: %v", err)
	}
	a.claims = claims
}

// meet tells whether one key could be at both places.
func (l Location) meet(other Location) bool {
	if l.Collection != other.Collection || l.Bucket != other.Bucket {
		return false
	}
	under := func(prefix, key string) bool { return prefix != "" && strings.HasPrefix(key, prefix) }
	return l.DocumentKey == other.DocumentKey && l.Key == other.Key && l.Prefix == other.Prefix ||
		under(l.Prefix, other.Prefix+other.Key) || under(other.Prefix, l.Prefix+l.Key)
}
