// Package fault wraps the ports of both services, so that a simulated process can be made to fail at any one of its calls:
// before the effect, half way, after it, or with an answer that says nothing. Nothing of it is in the product.
//
// One file a port. Each wrapper behaves as the port behind it until the Script says otherwise.
package fault

import (
	"errors"
	"fmt"
)

// Kind is what happens to one call.
type Kind int

// The kinds.
const (
	// None: nothing but the call.
	None Kind = iota
	// CrashBefore: the process ends, the call has no effect.
	CrashBefore
	// CrashHalf: the process ends when half of the items that the call carries had the effect.
	CrashHalf
	// CrashAfter: the process ends when the call had its effect.
	CrashAfter
	// ErrorBefore: the call fails without an effect.
	ErrorBefore
	// ErrorHalf: half of the items had the effect, the call fails.
	ErrorHalf
	// ErrorAfter: the call has its effect, and fails: the caller cannot know.
	ErrorAfter
	// Twice: the request is carried out twice, as by a driver that lost the first answer; the caller gets the second one.
	// A transaction runs twice, of which the first is rolled back. What is fetched is handed out twice, and what is
	// acknowledged comes again.
	Twice
	// Lost: the call says that it had its effect, and has none.
	Lost
	// Frozen: the process stops before the effect, as after SIGSTOP, until somebody wakes it. Then the effect comes, even if
	// the caller had no more time for it: the request was on its way.
	Frozen
)

var names = [...]string{"", "crash before", "crash half way", "crash after", "error before", "error half way", "error after", "twice", "lost", "frozen"}

// String is the kind in words.
func (k Kind) String() string { return names[k] }

// The errors of faults.
var (
	// ErrLost is the error of a call that fails: before the effect or after it, nobody can tell.
	ErrLost = errors.New("connection lost")
	// ErrCrashed is the error of every call of a process that has ended.
	ErrCrashed = errors.New("the process has ended")
)

// Call is one call of a port.
type Call struct {
	Process string // the name of the process that calls
	Port    string // "graph", "tx", "publisher", "subscriber", "delivery", "documents", "blobs", "ledger", "gate"
	Method  string
	Items   int    // how many items a bulk call carries, 1 for others
	About   string // the collection, bucket, subject or key, to tell calls apart that begin together
}

// Name is port and method.
func (c Call) Name() string { return c.Port + "." + c.Method }

// String is for people.
func (c Call) String() string {
	return fmt.Sprintf("%s: %s %s (%d)", c.Process, c.Name(), c.About, c.Items)
}

// Reads tells that the call changes nothing, so that a fault before it and one after it are the same.
func (c Call) Reads() bool {
	switch c.Name() {
	case "graph.View", "documents.Exists", "documents.OtherType", "documents.Get", "documents.Page", "blobs.List", "blobs.Page", "blobs.Mode", "ledger.Totals", "gate.Current":
		return true
	}
	return false
}

// Kinds are the faults that make a difference at the call.
func (c Call) Kinds() []Kind {
	switch {
	case c.Port == "tx": // the others are those of its transaction
		return []Kind{ErrorBefore}
	case c.Reads():
		return []Kind{CrashBefore, ErrorBefore, Frozen}
	}
	kinds := []Kind{CrashBefore, CrashAfter, ErrorBefore, ErrorAfter, Twice, Frozen}
	if c.Items > 1 {
		kinds = append(kinds, CrashHalf, ErrorHalf)
	}
	if c.Name() == "publisher.Publish" {
		kinds = append(kinds, Lost)
	}
	return kinds
}
