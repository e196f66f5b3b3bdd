package neo4j

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tombstone-project/tombstone/policy"
)

// ownLabels are those of our other nodes, which a policy cannot use for assets.
func ownLabels() []string {
	return []string{"Deletion", "Erasure", "Command", "AuditEntry", "Unsent", "OwnerUsage", "IdempotencyKey", "ClaimedPlace", "GraphSetting", "DeletionBatch",
		"BatchRefusal"}
}

// pending is the relationship type of command flags, which a policy cannot use for links.
const pending = "PENDING"

// names are the policy's names, quoted for Cypher.
type names struct {
	policy.Graph // as they are, for maps of properties

	replace *strings.Replacer
	links   map[string]policy.Link
}

// newNames checks the policy's names and quotes them.
func newNames(g policy.Graph, links map[string]policy.Link) (names, error) {
	n := names{Graph: g, links: links, replace: strings.NewReplacer(
		"<asset>", quote(g.Label), "<id>", quote(g.ID), "<kind>", quote(g.Kind), "<owner>", quote(g.Owner),
	)}
	var faults []error
	refuse := func(format string, args ...any) { faults = append(faults, fmt.Errorf("the policy's "+format, args...)) }
	for _, property := range [][2]string{{"id", g.ID}, {"kind", g.Kind}, {"owner", g.Owner}} {
		if name := property[1]; name == "" || slices.Contains(ownProperties(), name) {
			refuse("graph.%s is %q, which is empty or a property that Tombstone uses itself", property[0], name)
		}
	}
	if g.Label == "" || slices.Contains(ownLabels(), g.Label) {
		refuse("graph.label is %q, which is empty or a label that Tombstone uses itself", g.Label)
	}
	if g.ID == g.Kind || g.Kind == g.Owner || g.ID == g.Owner {
		refuse("graph.id, kind and owner must be three different properties")
	}
	for _, t := range slices.Sorted(maps.Keys(links)) {
		if t == "" || t == pending {
			refuse("links have the type %q, which is empty or one that Tombstone uses itself", t)
		}
	}
	return n, errors.Join(faults...)
}

// cypher puts the quoted names in the places <asset>, <id>, <kind> and <owner> of a statement.
func (n names) cypher(text string) string { return n.replace.Replace(text) }

// quote makes any name an identifier. Cypher decodes \uXXXX before it looks for backticks, so a backslash, too, must be
// written as one of those; and so is what begins a place for a name in our statements.
func quote(name string) string {
	return "`" + strings.NewReplacer("`", "``", `\`, `\u005C`, "<", `\u003C`).Replace(name) + "`"
}

// known gives those of the types that the policy has, in order and once each; nil means all.
func (n names) known(types []string) []string {
	if types == nil {
		return slices.Sorted(maps.Keys(n.links))
	}
	types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { _, ok := n.links[t]; return !ok })
	slices.Sort(types)
	return slices.Compact(types)
}

// pattern is a pattern of the links of known types (at least one) from the asset s to the asset t, the relationship as r,
// and the condition that goes with it. Where some types are stored the other way round and some are not, the pattern
// takes both directions and the condition chooses; it needs the parameter $reversed.
func (n names) pattern(types []string) (pattern, condition string) {
	return n.patternOf("s", "r", "t", types)
}

// patternOf is pattern with names for the source, the relationship and the target.
func (n names) patternOf(s, r, t string, types []string) (pattern, condition string) {
	reversed := 0
	for _, linkType := range types {
		if n.links[linkType].Reversed {
			reversed++
		}
	}
	left, right, condition := "-", "->", "true"
	switch reversed {
	case 0:
	case len(types):
		left, right = "<-", "-"
	default:
		right = "-"
		condition = fmt.Sprintf("(CASE WHEN type(%[1]s) IN $reversed THEN endNode(%[1]s) ELSE startNode(%[1]s) END) = %[2]s", r, s)
	}
	return fmt.Sprintf("(%s:<asset>)%s[%s:%s]%s(%s:<asset>)", s, left, r, alternatives(types), right, t), condition
}

// arrow is the relationship r of one type between its source, before it, and its target.
func (n names) arrow(r, linkType string) string {
	if n.links[linkType].Reversed {
		return "<-[" + r + ":" + quote(linkType) + "]-"
	}
	return "-[" + r + ":" + quote(linkType) + "]->"
}

// alternatives are types as a pattern takes them.
func alternatives(types []string) string {
	quoted := make([]string, len(types))
	for i, t := range types {
		quoted[i] = quote(t)
	}
	return strings.Join(quoted, "|")
}

// reversed are the types that are stored the other way round.
func (n names) reversed() (types []string) {
	for t, l := range n.links {
		if l.Reversed {
			types = append(types, t)
		}
	}
	return types
}
