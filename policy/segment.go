package policy

import (
	"slices"
	"strings"
)

// segments cuts the template at its slashes. Every value but that of a |path attribute is exactly one piece of one
// segment, so segment i of the template is segment i of every place made of it, up to the first |path.
func (t *Template) segments() [][]piece {
	out := [][]piece{nil}
	add := func(p piece) { out[len(out)-1] = append(out[len(out)-1], p) }
	for _, p := range t.pieces {
		if p.variable != literal {
			add(p)
			continue
		}
		for i, text := range strings.Split(p.literal, "/") {
			if i > 0 {
				out = append(out, nil)
			}
			if text != "" {
				add(piece{literal: text})
			}
		}
	}
	return out
}

// pinned finds the segment from which the value of v can be read back: before any |path, and with no other value of
// varying length in it. Two assets that differ in v differ in that segment, whatever their other values are.
func (t *Template) pinned(v variable) (index int, ok bool) {
	for i, segment := range t.segments() {
		if slices.ContainsFunc(segment, func(p piece) bool { return p.path }) {
			return 0, false
		}
		varying := slices.DeleteFunc(slices.Clone(segment), func(p piece) bool { return !p.varies() })
		if len(varying) == 1 && varying[0].variable == v {
			return i, true
		}
	}
	return 0, false
}

// owned tells whether the place is of one asset by itself: the id can be read back from it, or the generation, which no
// two assets share.
func (t *Template) owned() bool {
	_, byID := t.pinned(idVariable)
	return byID || t.fenced()
}

// fenced tells whether the place holds the generation, so that nothing of another generation can be in it.
func (t *Template) fenced() bool {
	_, ok := t.pinned(generationVariable)
	return ok
}
