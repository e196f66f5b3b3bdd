package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Template is a place with variables, "payload/{hash:2}/{id}/{generation}/". It is immutable.
type Template struct {
	text   string
	pieces []piece
}

// piece is a literal text or a variable.
type piece struct {
	variable  variable
	literal   string // of a literal, and of {kind}: the encoded name of the kind that the template belongs to
	attribute string // of {attributes.NAME}
	digits    int    // of {hash:N}
	path      bool   // {attributes.NAME|path}
}

// variable is what a piece stands for.
type variable int

const (
	literal variable = iota
	idVariable
	ownerVariable
	generationVariable
	hashVariable
	attributeVariable
)

// knownVariables is the list that error messages show.
const knownVariables = "{id}, {owner}, {kind}, {generation}, {hash:N}, {attributes.NAME}, {attributes.NAME|path}"

// maxHashDigits is the length of a SHA-256 in hex.
const maxHashDigits = 64

// templateError is a fault in the text of a template, at a byte offset.
type templateError struct {
	offset  int
	message string
}

// Error tells what is wrong and what to write instead.
func (e *templateError) Error() string { return e.message }

// parseTemplate reads the text of a template that belongs to a kind. The error is a *templateError.
func parseTemplate(text, kind string) (*Template, error) {
	t := &Template{text: text}
	for at := 0; at < len(text); {
		if text[at] == '}' {
			return nil, &templateError{at, "} without {; a variable is written {id}"}
		}
		if text[at] != '{' {
			end := at + strings.IndexAny(text[at:]+"{", "{}")
			t.pieces = append(t.pieces, piece{literal: text[at:end]})
			at = end
			continue
		}
		end := strings.IndexByte(text[at:], '}')
		if end < 0 {
			return nil, &templateError{at, "{ without }; a variable is written {id}"}
		}
		p, err := parseVariable(text[at+1:at+end], kind)
		if err != nil {
			return nil, &templateError{at, err.Error()}
		}
		t.pieces = append(t.pieces, p)
		at += end + 1
	}
	return t, nil
}

// parseVariable reads what stands between the braces.
func parseVariable(name, kind string) (piece, error) {
	switch name {
	case "id":
		return piece{variable: idVariable}, nil
	case "owner":
		return piece{variable: ownerVariable}, nil
	case "generation":
		return piece{variable: generationVariable}, nil
	case "kind":
		return piece{literal: encodeSegment(kind)}, nil
	}
	if digits, ok := strings.CutPrefix(name, "hash:"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > maxHashDigits || digits != strconv.Itoa(n) {
			return piece{}, fmt.Errorf("{%s}: %q is not a number of hex digits; write {hash:1} to {hash:%d}", name, digits, maxHashDigits)
		}
		return piece{variable: hashVariable, digits: n}, nil
	}
	if attribute, ok := strings.CutPrefix(name, "attributes."); ok {
		attribute, option, hasOption := strings.Cut(attribute, "|")
		if attribute == "" || hasOption && option != "path" {
			return piece{}, fmt.Errorf("{%s} is not an attribute; write {attributes.NAME} or {attributes.NAME|path}", name)
		}
		return piece{variable: attributeVariable, attribute: attribute, path: hasOption}, nil
	}
	return piece{}, fmt.Errorf("unknown variable {%s}; known are %s", name, knownVariables)
}

// String gives the text as it stands in the policy.
func (t *Template) String() string { return t.text }

// MarshalText gives the text as it stands in the policy.
func (t *Template) MarshalText() ([]byte, error) { return []byte(t.text), nil }

// single tells whether the template is one variable and nothing else.
func (t *Template) single() bool { return len(t.pieces) == 1 && t.pieces[0].variable != literal }

// uses tells whether the variable is in the template.
func (t *Template) uses(v variable) bool {
	return slices.ContainsFunc(t.pieces, func(p piece) bool { return p.variable == v })
}

// attributes lists the attributes that the template uses, in their order, repeats included.
func (t *Template) attributes() []string {
	var names []string
	for _, p := range t.pieces {
		if p.variable == attributeVariable {
			names = append(names, p.attribute)
		}
	}
	return names
}

// expand replaces the variables by the encoded values of the subject; raw leaves values as they are. The error is a
// *problem.Problem.
func (t *Template) expand(s Subject, raw bool) (string, error) {
	var b strings.Builder
	for _, p := range t.pieces {
		value, err := p.value(s)
		if err != nil {
			return "", err
		}
		if p.encoded() && !raw {
			value = encodeSegment(value)
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// encoded tells whether the piece's value is to become exactly one path segment.
func (p piece) encoded() bool { return p.variable != literal && !p.path }

// varies tells whether the length of the piece's value depends on the asset.
func (p piece) varies() bool { return p.variable != literal && p.variable != hashVariable }

// hashOf gives the first digits of the hex SHA-256 of an id.
func hashOf(id string, digits int) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:digits]
}
