// Package safetext makes text from outside fit to be shown: nothing in it can act on a terminal, or change how what stands
// around it is read.
package safetext

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reordering are the characters that change the order or the lines in which others are shown.
var reordering = []rune{'\u200e', '\u200f', '\u061c', '\u2028', '\u2029', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'}

// acts tells characters that control a terminal, or reorder others.
func acts(r rune) bool { return unicode.IsControl(r) || slices.Contains(reordering, r) }

// EscapeJSON writes out what Escape does in a JSON text, which means the same then: outside of strings there is nothing of it
// but tabs and line breaks, which stay.
func EscapeJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if acts(r) && r != '\n' && r != '\t' && r != '\r' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Escape writes out, as \xNN or \uNNNN, control characters, those that reorder others, and bytes that are no UTF-8.
func Escape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case acts(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
