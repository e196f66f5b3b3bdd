package neo4j

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/dbtype"
)

// What is empty is not stored: nil in a map of properties removes the property.

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func texts(s []string) any {
	if len(s) == 0 {
		return nil
	}
	return s
}

// offset is what the driver calls a zone without a name; so the browser of Neo4j shows "…Z".
var offset = time.FixedZone("Offset", 0)

// instant is a time even when it is zero: the year 1.
func instant(t time.Time) time.Time { return t.In(offset) }

func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return instant(t)
}

// ever is later than all times.
var ever = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, offset)

// orEver is a time for a comparison that a zero time must not narrow. A condition that is always there, and true, is
// better than one that is not: the server plans every text, and every set of types of parameters, anew.
func orEver(t time.Time) time.Time {
	if t.IsZero() {
		return ever
	}
	return instant(t)
}

// orAll is a limit, of which 0 is none.
func orAll(limit int) int {
	if limit == 0 {
		return math.MaxInt64
	}
	return limit
}

// object is a value as JSON in a string; empty tells that there is none.
func object(v any, empty bool) (any, error) {
	if empty {
		return nil, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// word and number are the string and the integer in a column of a record; zero where it holds nothing.
func word(r *neo4j.Record, column int) string {
	s, _ := r.Values[column].(string)
	return s
}

func number(r *neo4j.Record, column int) int64 {
	n, _ := r.Values[column].(int64)
	return n
}

// listed are the strings in a list.
func listed(list any) (strings []string) {
	values, _ := list.([]any)
	for _, v := range values {
		if s, ok := v.(string); ok {
			strings = append(strings, s)
		}
	}
	return strings
}

// properties are those of a stored node. A property that is absent or of another type reads as zero: an adopted node
// may use our names for something else.
type properties map[string]any

// node gives the properties of the node in a column of a record.
func node(r *neo4j.Record, column int) properties {
	n, _ := r.Values[column].(dbtype.Node)
	return n.Props
}

func (p properties) text(name string) string {
	s, _ := p[name].(string)
	return s
}

func (p properties) number(name string) int64 {
	n, _ := p[name].(int64)
	return n
}

func (p properties) truth(name string) bool {
	b, _ := p[name].(bool)
	return b
}

func (p properties) moment(name string) time.Time {
	t, _ := p[name].(time.Time)
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

func (p properties) texts(name string) []string { return listed(p[name]) }

// object decodes JSON into v, which stays as it is where there is none.
func (p properties) object(name string, v any) error {
	s := p.text(name)
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("property %s: %w", name, err)
	}
	return nil
}
