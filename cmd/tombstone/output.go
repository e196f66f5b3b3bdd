package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tombstone-project/tombstone/internal/safetext"
)

// output is standard output. It remembers the first write that failed, and writes nothing after it: a part that is missing is
// never in the middle.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(b)
	if err != nil {
		o.err = fmt.Errorf("the output is not whole: %w", err)
	}
	return n, o.err
}

// safe makes text fit for a terminal.
func safe(s string) string { return safetext.Escape(s) }

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
