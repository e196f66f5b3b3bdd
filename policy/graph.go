package policy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// Names in the graph that are ours, so an adopted graph must call its own things otherwise (CONTRACT section 7).
var (
	ownLabels     = []string{"Command", "Deletion"}
	ownProperties = []string{
		"generation", "status", "attributes", "bytes", "created_at", "updated_at", "hold", "deletion", "requested_at",
		"due_at", "parts", "sequence",
	}
	ownTypes = []string{"PENDING"}
)

func (r *reader) readGraph(n ast.Node) {
	g := &r.policy.Graph
	before := len(r.faults)
	r.fields(n, "graph",
		field{"label", r.graphName(&g.Label, "label", ownLabels)},
		field{"id", r.graphName(&g.ID, "id", ownProperties)},
		field{"kind", r.graphName(&g.Kind, "kind", ownProperties)},
		field{"owner", r.graphName(&g.Owner, "owner", ownProperties)})
	if len(r.faults) == before && (g.ID == g.Kind || g.ID == g.Owner || g.Kind == g.Owner) {
		r.fault(n, "id, kind and owner are the properties %q, %q and %q; write three different ones", g.ID, g.Kind, g.Owner)
	}
}

// graphName reads a label or the name of a property.
func (r *reader) graphName(dst *string, what string, ours []string) func(ast.Node) {
	return func(n ast.Node) {
		var name string
		r.text(&name, what)(n)
		if name != "" && r.checkGraphName(n, what, name, ours) {
			*dst = name
		}
	}
}

// checkGraphName refuses what could not stand in a query as it is, and names that are ours.
func (r *reader) checkGraphName(n ast.Node, what, name string, ours []string) bool {
	odd := strings.IndexFunc(name, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	switch {
	case odd >= 0 || name == "" || unicode.IsDigit(rune(name[0])):
		r.fault(n, "%s %q is not a name of letters, digits and _ that begins with no digit; write one", what, name)
	case slices.Contains(ours, name):
		r.fault(n, "%s %q is a name of our own in the graph; write another", what, name)
	default:
		return true
	}
	return false
}

func (r *reader) readLinks(n ast.Node) {
	r.entries(n, "links", func(key, value ast.Node, name string) {
		if r.checkGraphName(key, "link type", name, ownTypes) {
			r.readLink(key, value, name)
		}
	})
}

func (r *reader) readLink(key, n ast.Node, name string) {
	var reaction, onLast string
	link := Link{Type: name}
	before := len(r.faults)
	r.fields(n, "link "+name,
		field{"on_target_delete", r.oneOf(&reaction, "on_target_delete", string(Restrict), string(Cascade), string(Detach))},
		field{"on_last_source", r.oneOf(&onLast, "on_last_source", "delete")},
		field{"reversed", r.boolean(&link.Reversed, "reversed")})
	if reaction == "" && len(r.faults) == before {
		r.fault(key, "link %s does not say what deleting its target does; write on_target_delete: restrict, cascade or detach", name)
	}
	link.OnTargetDelete, link.OnLastSourceDelete = Reaction(reaction), onLast == "delete"
	r.policy.Links[name] = link
}
