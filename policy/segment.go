package policy

import (
	"slices"
	"strings"
)

// segments cuts the template at its slashes. Every value but that of a |path attribute is exactly one piece of one
// segment, so segment i of the template is segment i of every place made of it, up to the first |path.
func (t *Template) segments() [][]token {
	out := [][]token{nil}
	add := func(tok token) { out[len(out)-1] = append(out[len(out)-1], tok) }
	for _, tok := range t.tokens {
		if tok.variable != literal {
			add(tok)
			continue
		}
		for i, piece := range strings.Split(tok.literal, "/") {
			if i > 0 {
				out = append(out, nil)
			}
			if piece != "" {
				add(token{literal: piece})
			}
		}
	}
	return out
}

// pinned finds the segment from which the value of v can be read back: before any |path, and with no other value of
// varying length in it. Two assets that differ in v differ in that segment, whatever their other values are.
func (t *Template) pinned(v variable) (index int, ok bool) {
	for i, segment := range t.segments() {
		if slices.ContainsFunc(segment, func(tok token) bool { return tok.path }) {
			return 0, false
		}
		varying := slices.DeleteFunc(slices.Clone(segment), func(tok token) bool { return !tok.varies() })
		if len(varying) == 1 && varying[0].variable == v {
			return i, true
		}
	}
	return 0, false
}

// fenced tells whether the place holds the generation, so that nothing of another generation can be in it.
func (t *Template) fenced() bool {
	_, ok := t.pinned(generationVariable)
	return ok
}
