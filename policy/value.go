package policy

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tombstone-project/tombstone/problem"
)

// encodeSegment makes a value exactly one path segment: `/`, `%` and control characters are percent-encoded, byte by
// byte in upper-case hex, and so is a value that is `.` or `..` as a whole. All else stays. No two values give the same
// text (CONTRACT section 4).
func encodeSegment(value string) string {
	if value == "." || value == ".." {
		return strings.ReplaceAll(value, ".", "%2E")
	}
	var b strings.Builder
	for i, r := range value {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(value[i:])
		}
		char := value[i : i+size]
		if r != '/' && r != '%' && !unicode.IsControl(r) {
			b.WriteString(char)
			continue
		}
		for j := range len(char) {
			fmt.Fprintf(&b, "%%%02X", char[j])
		}
	}
	return b.String()
}

// value is what the piece stands for, not yet encoded. The error is a *problem.Problem.
func (p piece) value(s Subject) (string, error) {
	switch p.variable {
	case idVariable:
		return present("id", s.ID)
	case ownerVariable:
		return present("owner", s.Owner)
	case generationVariable:
		return present("generation", s.Generation)
	case hashVariable:
		return hashOf(s.ID, p.digits), nil
	case attributeVariable:
		return attributeValue(s, p)
	default:
		return p.literal, nil
	}
}

// badValue refuses the piece's value: as an attribute, or else as an id.
func (p piece) badValue(detail string, args ...any) error {
	if p.variable == attributeVariable {
		return problem.New(problem.InvalidAttribute, detail, args...).At("attributes." + p.attribute)
	}
	return problem.New(problem.InvalidID, detail, args...)
}

// present refuses an empty value: it would make a place that is another's, or everybody's.
func present(name, value string) (string, error) {
	if value == "" {
		return "", problem.New(problem.InvalidID, "the %s is empty, and a place is made of it", name)
	}
	return value, nil
}

// attributeValue is the text of an attribute that a place is made of.
func attributeValue(s Subject, p piece) (string, error) {
	refuse := func(why string) (string, error) {
		return "", p.badValue("attribute %q %s", p.attribute, why)
	}
	given, ok := s.Attributes[p.attribute]
	if !ok || given == nil {
		return refuse("is missing; a place is made of it, so it must be given at creation")
	}
	text, ok := attributeText(given)
	switch {
	case !ok:
		return refuse("is neither a text nor a whole number below 2^53, and a place is made of it; send greater numbers as text")
	case text == "":
		return refuse("is empty, and a place is made of it")
	case !utf8.ValidString(text):
		return refuse("is not valid UTF-8")
	}
	if p.path {
		if why := badPath(text); why != "" {
			return refuse(why)
		}
	}
	return text, nil
}

// exactFloat is the least whole number that cannot be told from its neighbour as a float64: JSON's 2^53 + 1 is read as 2^53.
const exactFloat = 1 << 53

// attributeText gives the text of a string or of a whole number; ok is false for anything else.
func attributeText(given any) (text string, ok bool) {
	switch v := given.(type) {
	case string:
		return v, true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return "", false
		}
		return attributeText(f)
	case float64:
		if v != math.Trunc(v) || math.Abs(v) >= exactFloat {
			return "", false
		}
		return strconv.FormatInt(int64(v), 10), true
	}
	return "", false
}

// badPath tells why a text is not a relative path of whole segments; empty when it is one.
func badPath(text string) string {
	for _, r := range text {
		if unicode.IsControl(r) {
			return "holds a control character, which a key may not"
		}
	}
	for segment := range strings.SplitSeq(text, "/") {
		switch segment {
		case "":
			return "begins or ends with a slash, or has two in a row; write segments with one slash between"
		case ".", "..":
			return fmt.Sprintf("has the segment %q; write the path without it", segment)
		}
	}
	return ""
}
