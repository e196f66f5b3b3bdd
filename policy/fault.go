package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong in a policy, and where. Line and Column count from 1; both are 0 when the fault is
// not at a place in the text (a file that cannot be read).
type Fault struct {
	File    string
	Line    int
	Column  int
	Message string // "what is wrong; what to write instead"
}

// Error prints `file:line:column: message`, the form that editors jump to.
func (f Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// Faults are all faults of one policy, in the order of the text. Parse returns them as its error.
type Faults []Fault

// Error prints one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted puts the faults into the order of the text; faults of one position stay in the order they were found.
func (f Faults) sorted() Faults {
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	return f
}
