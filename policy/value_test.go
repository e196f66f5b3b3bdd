package policy

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEncodeSegment(t *testing.T) {
	for value, want := range map[string]string{
		"a":                          "a",
		"a/b":                        "a%2Fb",
		"a%2Fb":                      "a%252Fb",
		"50%":                        "50%25",
		".":                          "%2E",
		"..":                         "%2E%2E",
		"...":                        "...",
		".hidden":                    ".hidden",
		"a/../b":                     "a%2F..%2Fb",
		"a b+c?d#e&":                 "a b+c?d#e&",
		"tab\tnul\x00esc\x1bdel\x7f": "tab%09nul%00esc%1Bdel%7F",
		"next\u0085line":             "next%C2%85line",
		"日本語 🦕":                      "日本語 🦕",
		"{id}":                       "{id}",
		"bad\xffbytes\xc3":           "bad\xffbytes\xc3",
		"\uFFFD":                     "\uFFFD",
	} {
		if got := encodeSegment(value); got != want {
			t.Errorf("%q: want %q, got %q", value, want, got)
		}
	}
}

// JSON numbers from 2^53 on are read as a neighbour: the place would be that of another asset's document.
func TestAnAttributeIsAPlaceOnlyWhereItIsExact(t *testing.T) {
	for number, want := range map[string]string{
		"7": "7", "-7": "-7", "0": "0", "9007199254740991": "9007199254740991", "1e3": "1000",
		"9007199254740992": "", "9007199254740993": "", "-9007199254740993": "", "9223372036854775807": "", "1.5": "", "1e400": "",
	} {
		exact := json.Number(number)
		float, _ := exact.Float64()
		for _, given := range []any{exact, float} {
			if got, ok := attributeText(given); got != want || ok != (want != "") {
				t.Errorf("%T %v: want %q, got %q, %v", given, given, want, got, ok)
			}
		}
	}
}

// Percent-decoding gives the value back, so no two values have one segment.
func TestEncodingIsInjectiveAndOneSegment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := nastyText().Draw(t, "value")
		segment := encodeSegment(value)
		back, err := url.PathUnescape(segment)
		if err != nil || back != value {
			t.Fatalf("%q became %q, and back %q, %v", value, segment, back, err)
		}
		if segment == "." || segment == ".." || segment == "" || strings.Contains(segment, "/") {
			t.Fatalf("%q became %q, which is not one segment", value, segment)
		}
	})
}

// nastyText draws texts that encoders, stores and patterns like to get wrong.
func nastyText() *rapid.Generator[string] {
	words := rapid.SampledFrom([]string{
		"a", "b", "ab", "0", "f", "/", "%", "%2F", "%2E", ".", "..", "-", "x", "payload", "{id}", "\t", "\u0085", "é", "🦕", " ", "\x7f", "日",
	})
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(words, 1, 5), func(s []string) string { return strings.Join(s, "") }),
		rapid.StringN(1, 12, 60),
	)
}
