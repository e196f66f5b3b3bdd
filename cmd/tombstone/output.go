package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"
)

// reordering are the characters that change the order or the lines in which a terminal shows others.
var reordering = []rune{'\u200e', '\u200f', '\u061c', '\u2028', '\u2029', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'}

// safe escapes what must not reach a terminal from an id or a reason: control characters, those that reorder others, and
// bytes that are no UTF-8.
func safe(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsControl(r) || slices.Contains(reordering, r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// table prints rows in columns; every cell is made safe.
func table(w io.Writer, rows ...[]string) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = safe(cell)
		}
		_, _ = fmt.Fprintln(columns, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	_ = columns.Flush()
}

// moment prints a time in UTC, or nothing for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// count prints a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// examples is the end of a command's help.
func examples(commands ...string) string {
	return "Examples:\n\n  " + strings.Join(commands, "\n  ")
}
