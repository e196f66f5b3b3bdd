package policy

import (
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/tombstone-project/tombstone/problem"
)

func (r *reader) readKinds(n ast.Node) {
	r.entries(n, "kinds", func(key, value ast.Node, name string) {
		if r.checkName(key, "kind", name) {
			r.policy.Kinds[name] = r.readKind(value, name)
		}
	})
}

// checkName refuses names of kinds and parts that could not stand in a URL, a log line and "kind/part" as they are.
func (r *reader) checkName(n ast.Node, what, name string) bool {
	if err := ValidateID(name); err != nil {
		r.fault(n, "%q cannot name a %s: %s", name, what, detail(err))
		return false
	}
	if strings.Contains(name, "/") || name == "." || name == ".." {
		r.fault(n, "%q cannot name a %s; write a name without / that is not . or ..", name, what)
		return false
	}
	return true
}

// detail is the sentence of a refusal without its name.
func detail(err error) string {
	if p := problem.As(err); p != nil {
		return p.Detail
	}
	return err.Error()
}

func (r *reader) readKind(n ast.Node, name string) *Kind {
	kind := &Kind{Name: name}
	r.fields(n, "kind "+name,
		field{"grace", r.duration(&kind.Grace, "grace", 0)},
		field{"parts", func(n ast.Node) {
			r.entries(n, "parts", func(key, value ast.Node, part string) {
				if r.checkName(key, "part", part) {
					kind.Parts = append(kind.Parts, r.readPart(key, value, name, part))
				}
			})
		}},
		field{"retention", func(n ast.Node) { kind.Retention = r.readRetention(n) }})
	return kind
}

func (r *reader) readPart(key, n ast.Node, kind, name string) *Part {
	part := &Part{Name: name}
	where := readPlace{part: part, owner: part, kind: kind}
	r.fields(n, "part "+name, append(r.placeFields(&where),
		field{"retention", func(n ast.Node) { part.Retention = r.readRetention(n) }},
		field{"former", func(n ast.Node) {
			r.list(n, "former", func(item ast.Node) { r.readFormer(item, kind, part) })
		}})...)
	r.donePlace(key, where)
	return part
}

func (r *reader) readFormer(n ast.Node, kind string, part *Part) {
	former := &Part{Name: part.Name}
	where := readPlace{part: former, owner: part, kind: kind, former: true}
	r.fields(n, "former", r.placeFields(&where)...)
	if r.donePlace(n, where) {
		part.Former = append(part.Former, former)
	}
}

func (r *reader) readRetention(n ast.Node) *Retention {
	ret := &Retention{Clock: "created_at"}
	said := false
	r.fields(n, "retention",
		field{"after", func(n ast.Node) {
			said = true
			r.duration(&ret.After, "after", anyDuration)(n)
		}},
		field{"clock", func(n ast.Node) { r.readClock(n, &ret.Clock) }},
		field{"when", func(n ast.Node) { ret.When = r.readWhen(n) }})
	if !said {
		r.fault(n, "retention does not say after what time; write after: 30d, or after: 0 for never")
	}
	return ret
}

// readClock reads which time of an asset its age is counted from.
func (r *reader) readClock(n ast.Node, dst *string) {
	clock, _ := scalarText(n)
	attribute, ok := strings.CutPrefix(clock, "attributes.")
	if clock == "created_at" || clock == "updated_at" || ok && attribute != "" {
		*dst = clock
		return
	}
	r.fault(n, "clock is %s; write created_at, updated_at or attributes.NAME", shown(n))
}

// readWhen reads a condition: attribute → the values of which it must have one; nil when there is none.
func (r *reader) readWhen(n ast.Node) map[string][]string {
	var when map[string][]string
	r.entries(n, "when", func(key, value ast.Node, attribute string) {
		if attribute == "" {
			r.fault(key, "when names an attribute with an empty name; write its name")
		}
		var values []string
		before := len(r.faults)
		r.list(value, "when."+attribute, func(item ast.Node) {
			text, ok := scalarText(item)
			if !ok {
				r.fault(item, "when.%s holds %s; write values", attribute, described(item))
				return
			}
			values = append(values, text)
		})
		if len(values) == 0 && len(r.faults) == before {
			r.fault(value, "when.%s names no value, so nothing would ever expire; write [VALUE]", attribute)
		}
		if when == nil {
			when = map[string][]string{}
		}
		when[attribute] = values
	})
	return when
}
