package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Template is a place with variables, "payload/{hash:2}/{id}/{generation}/". It is immutable.
type Template struct {
	text   string
	tokens []token
}

// token is a literal text or a variable.
type token struct {
	variable  variable
	literal   string // of a literal, and of {kind}: the encoded name of the kind that the template belongs to
	attribute string // of {attributes.NAME}
	digits    int    // of {hash:N}
	path      bool   // {attributes.NAME|path}
}

// variable is what a token stands for.
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
			t.tokens = append(t.tokens, token{literal: text[at:end]})
			at = end
			continue
		}
		end := strings.IndexByte(text[at:], '}')
		if end < 0 {
			return nil, &templateError{at, "{ without }; a variable is written {id}"}
		}
		tok, err := parseVariable(text[at+1:at+end], kind)
		if err != nil {
			return nil, &templateError{at, err.Error()}
		}
		t.tokens = append(t.tokens, tok)
		at += end + 1
	}
	return t, nil
}

// parseVariable reads what stands between the braces.
func parseVariable(name, kind string) (token, error) {
	switch name {
	case "id":
		return token{variable: idVariable}, nil
	case "owner":
		return token{variable: ownerVariable}, nil
	case "generation":
		return token{variable: generationVariable}, nil
	case "kind":
		return token{literal: encodeSegment(kind)}, nil
	}
	if digits, ok := strings.CutPrefix(name, "hash:"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > maxHashDigits || digits != strconv.Itoa(n) {
			return token{}, fmt.Errorf("{%s}: %q is not a number of hex digits; write {hash:1} to {hash:%d}", name, digits, maxHashDigits)
		}
		return token{variable: hashVariable, digits: n}, nil
	}
	if attribute, ok := strings.CutPrefix(name, "attributes."); ok {
		attribute, option, hasOption := strings.Cut(attribute, "|")
		if attribute == "" || hasOption && option != "path" {
			return token{}, fmt.Errorf("{%s} is not an attribute; write {attributes.NAME} or {attributes.NAME|path}", name)
		}
		return token{variable: attributeVariable, attribute: attribute, path: hasOption}, nil
	}
	return token{}, fmt.Errorf("unknown variable {%s}; known are %s", name, knownVariables)
}

// String gives the text as it stands in the policy.
func (t *Template) String() string { return t.text }

// MarshalText gives the text as it stands in the policy.
func (t *Template) MarshalText() ([]byte, error) { return []byte(t.text), nil }

// single tells whether the template is one variable and nothing else.
func (t *Template) single() bool { return len(t.tokens) == 1 && t.tokens[0].variable != literal }

// attributes lists the attributes that the template uses, in their order, repeats included.
func (t *Template) attributes() []string {
	var names []string
	for _, tok := range t.tokens {
		if tok.variable == attributeVariable {
			names = append(names, tok.attribute)
		}
	}
	return names
}

// expand replaces the variables by the encoded values of the subject; raw leaves values as they are. The error is a
// *problem.Problem.
func (t *Template) expand(s Subject, raw bool) (string, error) {
	var b strings.Builder
	for _, tok := range t.tokens {
		value, err := tok.value(s)
		if err != nil {
			return "", err
		}
		if tok.encoded() && !raw {
			value = encodeSegment(value)
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// encoded tells whether the token's value is to become exactly one path segment.
func (tok token) encoded() bool { return tok.variable != literal && !tok.path }

// varies tells whether the length of the token's value depends on the asset.
func (tok token) varies() bool { return tok.variable != literal && tok.variable != hashVariable }

// hashOf gives the first digits of the hex SHA-256 of an id.
func hashOf(id string, digits int) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:digits]
}
