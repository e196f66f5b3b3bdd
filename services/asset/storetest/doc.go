// Package storetest holds the contract of the asset service's stores as tests: every sentence of the ports, one suite a
// port. An adapter's own test opens its store and hands it to the suite; the in-memory stores pass the same suites.
package storetest

import (
	"crypto/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Two generations of one asset, in their order.
const (
	older = "0197b1c0-0000-7000-8000-000000000001"
	newer = "0197b1c0-0000-7000-8000-000000000002"
)

// names are values that stores and their protocols are known to confuse. None of them is another's canonical form.
var names = map[string]string{
	"plus":                 "a+b",
	"space":                "a b",
	"outer spaces":         " a ",
	"percent":              "100%",
	"escaped slash":        "a%2Fb",
	"double escape":        "a%252Fb",
	"quotes":               `it's "so"`,
	"markup":               "<a>&amp;</a>",
	"composed":             "caf\u00e9",
	"decomposed":           "cafe\u0301",
	"supplementary":        "\U0001F9CA",
	"right to left":        "\u05e9\u05dc\u05d5\u05dd",
	"query and fragment":   "a?b=c&d#e",
	"globs":                "*?[a-z]{b,c}",
	"backslash":            `a\b`,
	"dollar and dot":       "$set.a.b",
	"leading dot":          ".hidden",
	"dots":                 "a..b",
	"last code points":     "\uffee\U0010fffd",
	"other punctuation":    "~!@^()=|;:,`",
	"capital":              "NAME",
	"the same not capital": "name",
}

// unique makes a name that no other test uses, of small letters and digits.
func unique(t *testing.T, prefix string) string {
	t.Helper()
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	b := make([]byte, 12)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] = letters[b[i]%32]
	}
	return prefix + string(b)
}

// same fails the test when got is not want; nil and empty are the same.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// ok fails the test at once when one of the errors is not nil.
func ok(t *testing.T, what string, errs ...error) {
	t.Helper()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%s: entry %d: %v", what, i, err)
		}
	}
}
