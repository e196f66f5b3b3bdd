package safetext_test

import (
	"testing"

	"github.com/tombstone-project/tombstone/internal/safetext"
)

func TestEscapeJSON(t *testing.T) {
	const text = "{\n\t\"a\": \"\u009b\u007f\u202e é 🦕\"\r\n}"
	if got, want := safetext.EscapeJSON(text), "{\n\t\"a\": \"\\u009b\\u007f\\u202e é 🦕\"\r\n}"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"🦕 a\u200db é": "🦕 a\u200db é", "a\nb": `a\u000ab`, "\x1b[2J": `\u001b[2J`, "\u009b": `\u009b`, "a\xffb": `a\xffb`, "\u202e\u2066": `\u202e\u2066`, "\u2028": `\u2028`,
	} {
		if got := safetext.Escape(in); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}
