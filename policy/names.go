package policy

import (
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// bucket reads the name of a bucket: 3 to 255 letters, digits, dots, hyphens and underscores (old buckets have more of
// them than S3 allows in new ones).
func (r *reader) bucket(dst *string) func(ast.Node) {
	return func(n ast.Node) {
		var name string
		r.text(&name, "bucket")(n)
		odd := strings.ContainsFunc(name, func(c rune) bool {
			return c > unicode.MaxASCII || !strings.ContainsRune("._-", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
		})
		if name != "" && (odd || len(name) < 3 || len(name) > 255) {
			r.fault(n, "bucket %q is not a name of 3 to 255 letters, digits, dots, hyphens and underscores; write one", name)
			return
		}
		*dst = name
	}
}

// collection reads the name of a collection. Names that begin with tombstone_ are our own, those with system. the
// store's.
func (r *reader) collection(dst *string) func(ast.Node) {
	return func(n ast.Node) {
		var name string
		r.text(&name, "collection")(n)
		switch {
		case name == "":
		case strings.Contains(name, "$") || strings.ContainsFunc(name, unicode.IsControl) || len(name) > 200:
			r.fault(n, "collection %q is longer than 200 bytes, or holds $ or a control character; write another", name)
		case strings.HasPrefix(name, "system.") || strings.HasPrefix(name, "tombstone_"):
			r.fault(n, "collection %q is not for assets: names that begin with system. or tombstone_ are taken; write another", name)
		default:
			*dst = name
		}
	}
}

// idField reads the name of the field that holds a document's key.
func (r *reader) idField(dst *string) func(ast.Node) {
	return func(n ast.Node) {
		var name string
		r.text(&name, "id")(n)
		switch {
		case name == "":
		case strings.ContainsAny(name, "$.") || strings.ContainsFunc(name, unicode.IsControl):
			r.fault(n, "id %q holds $, a dot or a control character; write the name of a field at the top of the document", name)
		case name == "generation":
			r.fault(n, "id is the field generation, which holds the generation; write another")
		default:
			*dst = name
		}
	}
}
