package policy

import (
	"errors"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// template reads a template; nil, with a fault, when it is not one.
func (r *reader) template(n ast.Node, text, kind, what string) *Template {
	t, err := parseTemplate(text, kind)
	var bad *templateError
	switch {
	case errors.As(err, &bad):
		r.faultIn(n, bad.offset, "%s %q: %s", what, text, bad.message)
		return nil
	case len(text) > maxKey:
		r.fault(n, "%s has %d bytes, more than the key of an object can have; write at most %d", what, len(text), maxKey)
		return nil
	case t.uses(generationVariable) && !t.fenced():
		r.fault(n, "%s %q does not keep {generation} apart, so it would be no fence; write {generation} %s", what, t, apart)
		return nil
	}
	if at := strings.IndexFunc(text, unicode.IsControl); at >= 0 {
		r.faultIn(n, at, "%s %q holds a control character; write it without", what, text)
		return nil
	}
	return t
}

// apart says where a variable must stand so that its value can be read back.
const apart = "before any |path, with no other variable but {hash:N} between the same two slashes"

// checkPrefix: a prefix holds the id in a segment of its own and ends at the end of a segment, so that it is no other
// asset's and no other's begins like it.
func (r *reader) checkPrefix(n ast.Node, t *Template) bool {
	_, owned := t.pinned(idVariable)
	switch {
	case !t.uses(idVariable):
		r.fault(n, "prefix %q does not contain {id}, so assets would share it; write {id}/ into it", t)
	case !strings.HasSuffix(t.text, "/"):
		r.fault(n, "prefix %q does not end in /, so 1 would be the beginning of 10; write %q", t, t.text+"/")
	case !r.checkSegments(n, "prefix", t):
	case !owned:
		r.faultOwned(n, "prefix", t)
	default:
		return true
	}
	return false
}

// checkKey: the key of one object is made of the id or the generation; or of attributes, and then a claim keeps it
// apart.
func (r *reader) checkKey(n ast.Node, t *Template) bool {
	if strings.HasSuffix(t.text, "/") {
		r.fault(n, "key %q ends in /; write prefix for all objects below it, or the key of one object", t)
		return false
	}
	return r.checkSegments(n, "key", t) && r.checkOwned(n, t)
}

func (r *reader) checkDocumentKey(n ast.Node, d *Document) bool {
	if d.IDType != IDString && (!d.Key.single() || d.Key.uses(hashVariable)) {
		r.fault(n, "key %q cannot be made into id_type %s; write one variable, like {id}", d.Key, d.IDType)
		return false
	}
	return r.checkOwned(n, d.Key)
}

// checkOwned refuses a key that two assets could have.
func (r *reader) checkOwned(n ast.Node, t *Template) bool {
	if t.owned() || len(t.attributes()) > 0 {
		return true
	}
	r.faultOwned(n, "key", t)
	return false
}

func (r *reader) faultOwned(n ast.Node, what string, t *Template) {
	if !t.uses(idVariable) {
		r.fault(n, "%s %q does not contain {id}, so assets would share it; write {id} into it", what, t)
		return
	}
	r.fault(n, "%s %q does not keep {id} apart, so two assets could have the same place; write {id} %s", what, t, apart)
}

// checkSegments refuses segments that stores read in a way of their own: empty ones, `.` and `..`.
func (r *reader) checkSegments(n ast.Node, what string, t *Template) bool {
	segments := t.segments()
	for i, segment := range segments {
		last := what == "prefix" && i == len(segments)-1
		if last || len(segment) > 0 && !isDots(segment) {
			continue
		}
		r.fault(n, "%s %q has an empty segment, or one that is . or ..; write it without, and without a slash in front", what, t)
		return false
	}
	return true
}

func isDots(segment []piece) bool {
	text := ""
	for _, p := range segment {
		if p.variable != literal {
			return false
		}
		text += p.literal
	}
	return text == "." || text == ".."
}
