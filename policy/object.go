package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tombstone-project/tombstone/problem"
)

// Object works out where one object of the part is: below the prefix, by its name. A part that is a single key has no
// names, and the name is not looked at. The error is a *problem.Problem: unknown-part for a document, invalid-request for
// the name, else as of Location.
func (p *Part) Object(s Subject, name string) (Location, error) {
	if p.Blobs == nil {
		return Location{}, problem.New(problem.UnknownPart, "part %q of kind %q is a document and holds no objects", p.Name, s.Kind).At("part")
	}
	l, err := p.Location(s)
	if err != nil || l.Prefix == "" {
		return l, err
	}
	if why := refuseName(name); why != "" {
		return Location{}, problem.New(problem.InvalidRequest, "an object cannot be named %q: %s", name, why).At("name")
	}
	l.Key, l.Prefix = l.Prefix+name, ""
	return l, checkKey(l.Bucket, l.Key, maxKey)
}

// refuseName says what is wrong with the name of an object below a prefix; empty when nothing is. Segments that are dots
// would lead out of the prefix wherever somebody takes the key for a path.
func refuseName(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case !utf8.ValidString(name):
		return "it is not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "it holds a control character"
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "." || segment == ".." {
			return "no segment may be . or .."
		}
	}
	return ""
}

// Fenced tells whether the generation is part of the place, so that nothing of another generation can be there.
func (b *Blobs) Fenced() bool {
	if b.Prefix != nil {
		return b.Prefix.fenced()
	}
	return b.Key.fenced()
}
