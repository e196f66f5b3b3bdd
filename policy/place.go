package policy

import "github.com/goccy/go-yaml/ast"

// readPlace is one place as it was read: for the checks of its template, and later for those against other places.
type readPlace struct {
	part   *Part // holds the place: the part itself, or one of its former places
	owner  *Part // the part that it is a place of
	kind   string
	former bool
	node   ast.Node // of the template; of the place itself when it has the default; nil when it had a fault
	keys   []atom   // the pattern of every key at the place
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
	if where.node == nil {
		return false
	}
	where.keys = p.keys()
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
	where.node = keyNode
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
