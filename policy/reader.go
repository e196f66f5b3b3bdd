package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// reader walks the syntax tree of one policy, fills the policy and gathers the faults.
type reader struct {
	file   string
	policy *Policy
	faults Faults
	places []readPlace // every place, in the order of the text
	canary ast.Node    // the section; nil when there is none
}

// fault notes what is wrong with a node, at its start.
func (r *reader) fault(n ast.Node, message string, args ...any) {
	r.note(start(n), 0, message, args...)
}

// faultIn notes what is wrong at a byte offset of the text of a scalar, as near to it as its quoting lets us say.
func (r *reader) faultIn(n ast.Node, offset int, message string, args ...any) {
	columns := 0
	if s, ok := n.(*ast.StringNode); ok {
		columns = columnsTo(s.GetToken(), offset)
	}
	r.note(start(n), columns, message, args...)
}

func (r *reader) note(at *token.Position, columns int, message string, args ...any) {
	r.faults = append(r.faults, Fault{File: r.file, Line: at.Line, Column: at.Column + columns, Message: fmt.Sprintf(message, args...)})
}

// start is where a node begins: a block mapping at its first key, not at the colon behind it.
func start(n ast.Node) *token.Position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	return n.GetToken().Position
}

// columnsTo counts the columns from the start of a scalar to a byte of its value. Where the scalar is written with
// escapes or over several lines the start has to do.
func columnsTo(tk *token.Token, offset int) int {
	written := strings.TrimSpace(tk.Origin)
	quote := 0
	if tk.Type == token.DoubleQuoteType || tk.Type == token.SingleQuoteType {
		quote = 1
	}
	if len(written) != len(tk.Value)+2*quote || written[quote:len(written)-quote] != tk.Value {
		return 0
	}
	return quote + utf8.RuneCountInString(tk.Value[:offset])
}

// field is one field of a mapping and what reads its value.
type field struct {
	name string
	read func(ast.Node)
}

// fields reads a mapping whose fields are known. An unknown field is a fault that names the nearest known one.
func (r *reader) fields(n ast.Node, what string, known ...field) {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	r.entries(n, what, func(key, value ast.Node, name string) {
		for _, f := range known {
			if f.name == name {
				f.read(value)
				return
			}
		}
		if near := Nearest(name, names); near != "" {
			r.fault(key, "unknown field %q in %s; write %q", name, what, near)
			return
		}
		r.fault(key, "unknown field %q in %s; known are %s", name, what, strings.Join(names, ", "))
	})
}

// entries reads a mapping with keys of the user's choice. No value at all is an empty mapping.
func (r *reader) entries(n ast.Node, what string, read func(key, value ast.Node, name string)) {
	if n.Type() == ast.NullType {
		return
	}
	m, ok := n.(*ast.MappingNode)
	if !ok {
		r.fault(n, "%s is %s; write a mapping, NAME: VALUE", what, described(n))
		return
	}
	seen := map[string]int{}
	for _, entry := range m.Values {
		name, ok := r.key(entry.Key, what)
		if !ok {
			continue
		}
		if line, twice := seen[name]; twice {
			r.fault(entry.Key, "%q is in %s twice, first at line %d; write it once", name, what, line)
			continue
		}
		seen[name] = start(entry.Key).Line
		read(entry.Key, entry.Value, name)
	}
}

// key gives the text of the key of a mapping; a number or true is a text here.
func (r *reader) key(n ast.Node, what string) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	r.fault(n, "%s has %s as a key; write a name", what, described(n))
	return "", false
}

// list reads each item of a sequence.
func (r *reader) list(n ast.Node, what string, read func(item ast.Node)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fault(n, "%s is %s; write a list, [VALUE, VALUE]", what, described(n))
		return
	}
	for _, item := range s.Values {
		read(item)
	}
}

// described names the sort of a node for people.
func described(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "empty"
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "a YAML anchor, alias or merge, which a policy may not have"
	default:
		return "a YAML " + strings.ToLower(n.Type().YAMLName()) + ", which a policy may not have"
	}
}
