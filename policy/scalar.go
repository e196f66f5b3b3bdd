package policy

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// The functions below make readers of scalar values: each gives a function that reads a node into dst, or notes a
// fault and leaves dst as it is. what is the name of the field in messages.

// text reads any text that is not empty.
func (r *reader) text(dst *string, what string) func(ast.Node) {
	return func(n ast.Node) {
		switch n := n.(type) {
		case *ast.StringNode:
			*dst = n.Value
		case *ast.LiteralNode:
			*dst = n.Value.Value
		case *ast.MappingNode:
			r.fault(n, "%s is a mapping; write a text, in quotes if it begins with {", what)
			return
		default:
			r.fault(n, "%s is %s; write a text, in quotes if need be", what, described(n))
			return
		}
		if *dst == "" {
			r.fault(n, "%s is empty; write a text", what)
		}
	}
}

// oneOf reads a text that must be one of a few.
func (r *reader) oneOf(dst *string, what string, allowed ...string) func(ast.Node) {
	return func(n ast.Node) {
		text, ok := scalarText(n)
		if !ok || !slices.Contains(allowed, text) {
			r.fault(n, "%s is %s; write %s", what, shown(n), strings.Join(allowed, " or "))
			return
		}
		*dst = text
	}
}

// boolean reads true or false.
func (r *reader) boolean(dst *bool, what string) func(ast.Node) {
	return func(n ast.Node) {
		if b, ok := n.(*ast.BoolNode); ok {
			*dst = b.Value
			return
		}
		r.fault(n, "%s is %s; write true or false", what, shown(n))
	}
}

// duration reads a time of at least so much.
func (r *reader) duration(dst *time.Duration, what string, atLeast time.Duration) func(ast.Node) {
	return func(n ast.Node) {
		text, ok := scalarText(n)
		if !ok {
			r.fault(n, "%s is %s; write a duration like 90s, 15m, 24h or 30d", what, described(n))
			return
		}
		d, err := parseDuration(text)
		switch {
		case err != nil:
			r.fault(n, "%s: %v", what, err)
		case d < 0 && atLeast >= 0:
			r.fault(n, "%s is %s, which is negative; write %s or more", what, text, durationText(atLeast))
		case d < atLeast:
			r.fault(n, "%s is %s, which is too short; write %s or more", what, text, durationText(atLeast))
		default:
			*dst = d
		}
	}
}

// size reads a number of bytes, with a unit or without.
func (r *reader) size(dst *int64, what string) func(ast.Node) {
	return func(n ast.Node) {
		text, ok := scalarText(n)
		if !ok {
			r.fault(n, "%s is %s; write a size like 500MB or 10GiB", what, described(n))
			return
		}
		v, err := parseSize(text)
		if err != nil {
			r.fault(n, "%s: %v", what, err)
			return
		}
		*dst = v
	}
}

// count reads a whole number of at least so much.
func (r *reader) count(dst *int64, what string, atLeast int64) func(ast.Node) {
	return func(n ast.Node) {
		if n.Type() == ast.IntegerType {
			text := n.GetToken().Value
			if v, err := strconv.ParseInt(text, 10, 64); err == nil && v >= atLeast && strconv.FormatInt(v, 10) == text {
				*dst = v
				return
			}
		}
		r.fault(n, "%s is %s; write a whole number of %d or more", what, shown(n), atLeast)
	}
}

// share reads a number from 0 to 1.
func (r *reader) share(dst *float64, what string) func(ast.Node) {
	return func(n ast.Node) {
		if n.Type() == ast.IntegerType || n.Type() == ast.FloatType {
			v, err := strconv.ParseFloat(n.GetToken().Value, 64)
			if err == nil && v >= 0 && v <= 1 {
				*dst = math.Abs(v)
				return
			}
		}
		r.fault(n, "%s is %s; write a number from 0 to 1, like 0.25", what, shown(n))
	}
}

// scalarText gives the text of a scalar that says something; ok is false for anything else.
func scalarText(n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// shown is what messages show of a value: the scalar itself, or what sort of node it is.
func shown(n ast.Node) string {
	if text, ok := scalarText(n); ok {
		return strconv.Quote(text)
	}
	return described(n)
}
