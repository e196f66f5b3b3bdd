package policy

import (
	"errors"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// readPlace is one place as it was read: for the checks of its template, and later for those against other places.
type readPlace struct {
	part   *Part // holds the place: the part itself, or one of its former places
	owner  *Part // the part that it is a place of
	kind   string
	former bool
	node   ast.Node // of the template; of the place itself when it has the default
	raw    bool     // the value of the template's one variable stays as it is

	pattern []atom // of every key at the place, once it is read
}

// placeFields are the two fields that say where something is.
func (r *reader) placeFields(where *readPlace) []field {
	return []field{
		{"document", func(n ast.Node) { r.readDocument(n, where) }},
		{"blobs", func(n ast.Node) { r.readBlobs(n, where) }},
	}
}

// donePlace checks what was read for one place as a whole and keeps it for the check against the others.
func (r *reader) donePlace(n ast.Node, where readPlace) bool {
	p := where.part
	switch {
	case p.Document == nil && p.Blobs == nil:
		r.fault(n, "%s has no place; write document: {…} or blobs: {…}", where)
		return false
	case p.Document != nil && p.Blobs != nil:
		r.fault(n, "%s has both document and blobs; write one of them, and another part for the other", where)
		return false
	}
	if where.node == nil { // its template had a fault
		return false
	}
	where.pattern = where.keys()
	r.places = append(r.places, where)
	return true
}

// String names the place for messages.
func (w readPlace) String() string {
	name := "part " + w.kind + "/" + w.owner.Name
	if w.former {
		return "a former place of " + name
	}
	return name
}

func (r *reader) readDocument(n ast.Node, where *readPlace) {
	d := &Document{IDField: "_id", IDType: IDString}
	where.part.Document = d
	idType, collection := string(IDString), ""
	var keyNode ast.Node
	key := "{id}"
	before := len(r.faults)
	r.fields(n, "document",
		field{"collection", r.collection(&collection)},
		field{"key", func(n ast.Node) { keyNode = n; r.text(&key, "key")(n) }},
		field{"id", r.idField(&d.IDField)},
		field{"id_type", r.oneOf(&idType, "id_type", string(IDString), string(IDObjectID), string(IDInt))})
	d.Collection, d.IDType = collection, IDType(idType)
	if keyNode == nil {
		keyNode = n
	}
	if len(r.faults) > before {
		return
	}
	if collection == "" {
		r.fault(n, "document has no collection; write collection: NAME")
		return
	}
	if d.Key = r.template(keyNode, key, where.kind, "key"); d.Key == nil || !r.checkDocumentKey(keyNode, d) {
		return
	}
	where.node, where.raw = keyNode, d.Key.single()
}

func (r *reader) readBlobs(n ast.Node, where *readPlace) {
	b := &Blobs{}
	where.part.Blobs = b
	var prefix, key string
	var prefixNode, keyNode ast.Node
	before := len(r.faults)
	r.fields(n, "blobs",
		field{"bucket", r.bucket(&b.Bucket)},
		field{"prefix", func(n ast.Node) { prefixNode = n; r.text(&prefix, "prefix")(n) }},
		field{"key", func(n ast.Node) { keyNode = n; r.text(&key, "key")(n) }},
		field{"unfenced", r.boolean(&b.Unfenced, "unfenced")},
		field{"governance_bypass", r.boolean(&b.GovernanceBypass, "governance_bypass")})
	switch {
	case len(r.faults) > before:
	case b.Bucket == "":
		r.fault(n, "blobs has no bucket; write bucket: NAME")
	case prefixNode == nil && keyNode == nil:
		r.fault(n, `blobs has neither prefix nor key; write prefix: "{id}/{generation}/", or the key of one object`)
	case prefixNode != nil && keyNode != nil:
		r.fault(keyNode, "blobs has both prefix and key; write one of them, and another part for the other")
	case prefixNode != nil:
		if b.Prefix = r.template(prefixNode, prefix, where.kind, "prefix"); b.Prefix != nil && r.checkPrefix(prefixNode, b.Prefix) {
			where.node = prefixNode
		}
	default:
		if b.Key = r.template(keyNode, key, where.kind, "key"); b.Key != nil && r.checkKey(keyNode, b.Key) {
			where.node = keyNode
		}
	}
}

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
	}
	if at := strings.IndexFunc(text, unicode.IsControl); at >= 0 {
		r.faultIn(n, at, "%s %q holds a control character; write it without", what, text)
		return nil
	}
	return t
}

// checkPrefix: a prefix holds the id in a segment of its own and ends at the end of a segment, so that it is no other
// asset's and no other's begins like it.
func (r *reader) checkPrefix(n ast.Node, t *Template) bool {
	if !t.uses(idVariable) {
		r.fault(n, "prefix %q does not contain {id}, so assets would share it; write {id}/ into it", t)
		return false
	}
	if !strings.HasSuffix(t.text, "/") {
		r.fault(n, "prefix %q does not end in /, so 1 would be the beginning of 10; write %q", t, t.text+"/")
		return false
	}
	return r.checkSegments(n, "prefix", t) && r.checkOwned(n, "prefix", t)
}

// checkKey: the key of one object is made of the id, or of attributes, and then a claim keeps it apart.
func (r *reader) checkKey(n ast.Node, t *Template) bool {
	if strings.HasSuffix(t.text, "/") {
		r.fault(n, "key %q ends in /; write prefix for all objects below it, or the key of one object", t)
		return false
	}
	return r.checkSegments(n, "key", t) && (len(t.attributes()) > 0 || r.checkOwned(n, "key", t))
}

func (r *reader) checkDocumentKey(n ast.Node, d *Document) bool {
	if d.IDType != IDString && (!d.Key.single() || d.Key.uses(hashVariable)) {
		r.fault(n, "key %q cannot be made into id_type %s; write one variable, like {id}", d.Key, d.IDType)
		return false
	}
	return len(d.Key.attributes()) > 0 || r.checkOwned(n, "key", d.Key)
}

// checkOwned refuses a place from which the id cannot be read back.
func (r *reader) checkOwned(n ast.Node, what string, t *Template) bool {
	if _, ok := t.pinned(idVariable); ok {
		return true
	}
	if !t.uses(idVariable) {
		r.fault(n, "%s %q does not contain {id}, so assets would share it; write {id} into it", what, t)
		return false
	}
	r.fault(n, "%s %q does not keep {id} apart, so two assets could have the same place; write {id} before any |path, "+
		"with no other variable but {hash:N} between the same two slashes", what, t)
	return false
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
